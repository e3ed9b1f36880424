/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core.m -- the upcall face once more, for rumur, written without a look at core.pml
 *
 * The same questions in another language and another shape: here every thread is a program counter,
 * the lock is a variable that is held across steps wherever the code holds it across two device calls,
 * and a kick inserts into a ready list that any loop thread takes from.
 *
 * N completions, M posts, R calls of two controllers, U upcalls that switch their own policy; the device
 * refuses FAILURES times to be armed by a run.
 */
#ifndef N
#define N 3
#endif
#ifndef M
#define M 2
#endif
#ifndef R
#define R 2
#endif
#ifndef U
#define U 1
#endif
#ifndef FAILURES
#define FAILURES 0
#endif
#define SIZES N/M/2/R

const
  TOTAL: N + M;

type
  many: 0 .. TOTAL;
  loop: 0 .. 1;  /* two loop threads */
  user: 2 .. 3;  /* two controllers */
  actor: 0 .. 3;
  place: enum {
    AT_REST,   /* in epoll_wait */
    HAS_EVENT, /* read from the channel, not booked */
    HAS_JOB,   /* the first section of a pass is next */
    ARMING,    /* polled, nothing there; has the lock */
    RECHECKING,/* armed; has the lock */
    CALLING,   /* in the upcall */
    DRAINING,  /* in the upcall, which has disabled itself */
    GOING_IDLE /* a wrong variant: saw the policy off, left the section */
  };
  step: enum { NOWHERE, FIRST_POLL, ARM, SECOND_POLL };

var
  /* the device */
  to_come: 0 .. N;
  cq, undecided, channel: many;
  device_armed: boolean;
  /* the EVD */
  lock, owned, ready, armed, enabled: boolean;
  queued: many;
  taken: many; /* claimed or dequeued */
  /* the threads */
  at: array [loop] of place;
  enabling: array [actor] of step;
  only_new: array [actor] of boolean;
  posts: 0 .. M;
  failures: 0 .. FAILURES;
  calls: 0 .. R;
  switches: 0 .. U;
#ifdef UNLOCKED_OWNER
  poster_looked, poster_saw: boolean;
#endif

procedure poll();
begin
  while queued = 0 & cq > 0 do
    if cq > 1 then
      queued := queued + 2; cq := cq - 2;
    else
      queued := queued + 1; cq := cq - 1;
    end;
  end;
end;

procedure request_notification();
begin
  if !armed then
    assert "I3: not armed again before its notification was read" !device_armed & channel = 0;
    armed := true;
    device_armed := true;
  end;
end;

procedure kick();
begin
  if enabled & !owned then
    assert "a job is on one list" !ready;
    owned := true;
    ready := true;
  end;
end;

function calling(): boolean;
begin
  return (exists l: loop do at[l] = CALLING | at[l] = DRAINING end);
end;

procedure claim(l: loop);
begin
  assert "I6: nothing starts under an off policy" enabled;
  assert "I5: one upcall at a time" !calling();
  queued := queued - 1; taken := taken + 1;
  at[l] := CALLING;
end;

startstate begin
  to_come := N; cq := 0; undecided := 0; channel := 0;
  lock := false; owned := false; ready := false; queued := 0; taken := 0;
  armed := true; device_armed := true; enabled := true;
  for l: loop do at[l] := AT_REST; end;
  for a: actor do enabling[a] := NOWHERE; only_new[a] := false; end;
  posts := M; failures := FAILURES; calls := R; switches := U;
#ifdef UNLOCKED_OWNER
  poster_looked := false; poster_saw := false;
#endif
end;

/* ---- the device ---- */

rule "a completion becomes visible" to_come > 0 ==> begin
  to_come := to_come - 1; cq := cq + 1; undecided := undecided + 1;
end;

rule "a completion decides about its notification" undecided > 0 ==> begin
  undecided := undecided - 1;
  if device_armed then
    device_armed := false;
    channel := channel + 1;
  end;
end;

/* ---- loop threads ---- */

ruleset l: loop do
  rule "read an event" at[l] = AT_REST & channel > 0 ==> begin
    channel := channel - 1;
    at[l] := HAS_EVENT;
  end;

  rule "evd_notified" at[l] = HAS_EVENT & !lock ==> begin
#if defined(CLEAR_NEVER) || defined(CLEAR_BY_RUN)
#elif defined(CLEAR_IF_ENABLED)
    if enabled then armed := false; end;
#else
    armed := false;
#endif
    kick();
    at[l] := AT_REST;
  end;

  rule "take a job" at[l] = AT_REST & ready ==> begin
    ready := false;
    at[l] := HAS_JOB;
  end;

  rule "evd_run, first section" at[l] = HAS_JOB & !lock ==> begin
    if !enabled then
#ifdef SPLIT_IDLE
      at[l] := GOING_IDLE;
#else
      owned := false;
      at[l] := AT_REST;
#endif
    else
#ifdef CLEAR_BY_RUN
      armed := false;
#endif
      poll();
      if queued > 0 then
        claim(l);
      else
        lock := true;
        at[l] := ARMING;
      end;
    end;
  end;

#ifdef SPLIT_IDLE
  rule "IDLE in a section of its own" at[l] = GOING_IDLE & !lock ==> begin
    owned := false;
    at[l] := AT_REST;
  end;
#endif

  rule "evd_arm" at[l] = ARMING ==> begin
    request_notification();
    at[l] := RECHECKING;
  end;

  rule "arm_fails" at[l] = ARMING & failures > 0 & !armed ==> begin
    failures := failures - 1;
    lock := false;
    at[l] := AT_REST;
#ifdef ARM_FAILURE_IDLE
    owned := false;
#else
    ready := true; /* it stays OWNED and comes back */
#endif
  end;

  rule "second poll" at[l] = RECHECKING ==> begin
#ifndef NO_SECOND_POLL
    poll();
#endif
    lock := false;
    if queued > 0 then
      claim(l);
    else
      owned := false;
      at[l] := AT_REST;
    end;
  end;

  rule "the upcall returns" (at[l] = CALLING | at[l] = DRAINING) & enabling[l] = NOWHERE & !lock ==> begin
    at[l] := HAS_JOB;
  end;

  rule "the upcall disables" at[l] = CALLING & switches > 0 & !lock ==> begin
    switches := switches - 1;
    enabled := false;
    at[l] := DRAINING;
  end;

  rule "the upcall dequeues" at[l] = DRAINING & enabling[l] = NOWHERE & !lock ==> begin
    poll();
    if queued > 0 then
      queued := queued - 1; taken := taken + 1;
    else
      enabling[l] := FIRST_POLL;
      only_new[l] := true;
    end;
  end;
end;

/* ---- controllers, and ENABLE for them and for upcalls ---- */

ruleset c: user; new: boolean do
  rule "a controller calls ENABLE" calls > 0 & enabling[c] = NOWHERE ==> begin
    calls := calls - 1;
    enabling[c] := FIRST_POLL;
    only_new[c] := new;
  end;
end;

ruleset c: user do
  rule "a controller calls DISABLE" calls > 0 & enabling[c] = NOWHERE & !lock ==> begin
    calls := calls - 1;
    enabled := false;
  end;
end;

ruleset a: actor do
  rule "enable, first poll" enabling[a] = FIRST_POLL & !lock ==> begin
    lock := true;
    poll();
    enabling[a] := ARM;
  end;

  rule "enable, arm" enabling[a] = ARM ==> begin
    request_notification();
    enabling[a] := SECOND_POLL;
  end;

  rule "enable, second poll" enabling[a] = SECOND_POLL ==> begin
#ifndef ENABLE_POLLS_ONCE
    poll();
#endif
    lock := false;
    enabling[a] := NOWHERE;
    if queued = 0 | !only_new[a] then
      enabled := true;
#ifndef NO_KICK
      if queued > 0 then kick(); end;
#endif
      /* an upcall that is enabled again goes on as any other */
      for l: loop do
        if l = a then at[l] := CALLING; end;
      end;
    end;
    only_new[a] := false;
  end;
end;

/* ---- a poster ---- */

#ifdef UNLOCKED_OWNER
rule "the poster looks at the owner" posts > 0 & !poster_looked ==> begin
  poster_looked := true;
  poster_saw := owned;
end;

rule "evd_post" poster_looked & !lock ==> begin
  posts := posts - 1; queued := queued + 1;
  poster_looked := false;
  if enabled & !poster_saw then owned := true; ready := true; end;
  poster_saw := false;
end;
#else
rule "evd_post" posts > 0 & !lock ==> begin
  posts := posts - 1; queued := queued + 1;
  kick();
end;
#endif

/* ---- what holds ---- */

#ifndef NO_I1
invariant "I1: enabled and idle means armed, and nothing there that is not told"
  lock | !enabled | owned |
  (armed & ((cq = 0 & queued = 0) | channel > 0 | (exists l: loop do at[l] = HAS_EVENT end) |
    (device_armed & undecided > 0)));
#endif

invariant "I2: every event is in one place, or was handed over once"
  to_come + cq + queued + taken + posts = TOTAL;

invariant "nothing is stranded when nobody has anything to do"
  !enabled | lock | ready | channel > 0 | undecided > 0 |
  (exists l: loop do at[l] != AT_REST end) | (exists a: actor do enabling[a] != NOWHERE end) |
  (cq = 0 & queued = 0);

#ifdef LIVE
/* From every state the system can come to rest with everything posted and completed. */
liveness "it comes to rest"
  to_come = 0 & undecided = 0 & posts = 0 & channel = 0 & !ready & !lock &
  (forall l: loop do at[l] = AT_REST end);
#endif

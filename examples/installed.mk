# SPDX-License-Identifier: BSD-3-Clause
# Builds the examples with the installed library, each in its folder.  Copy the folders to a place of your own and
# say "make", or "make hello_upcall/hello_upcall" for one of them.
CFLAGS ?= -O2 -g
packages = dat2
compile = $(CC) -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $(filter %.c,$^) \
	$(shell pkg-config --cflags --libs $(packages)) $(LDFLAGS)

# A program is one file, and the file common.c of its folder if there is one.  The files of loops/ are for
# programs of yours.
.SECONDEXPANSION:
programs = $(patsubst %.c,%,$(filter-out loops/% %/common.c,$(wildcard */*.c)))

all: $(programs)

$(programs): %: %.c $$(wildcard $$(@D)/common.c)
	$(compile)

lessons/port_before: packages += libibverbs
$(filter echo/% ports/%,$(programs)): packages = rearm librdmacm libibverbs

clean:
	rm -f $(programs)

.PHONY: all clean

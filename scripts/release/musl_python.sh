#!/usr/bin/env bash
# musl_python.sh FOLDER: builds a small Python 3.11 that runs on musl instead of
# glibc and leaves it at FOLDER/bin/python3, so that musllinux wheels can be run,
# not only inspected, on a Debian 12 machine without a container. A second call
# does nothing. It needs apt, gcc, make, xz and bzip2, but not root, and changes
# nothing outside FOLDER, which must not contain spaces and must not be moved
# afterwards: the loader's path is inside the executable.
set -euo pipefail
mkdir -p "${1:?usage: musl_python.sh FOLDER}"
top=$(cd "$1" && pwd)
# The executable is put in place last, so its presence means a complete folder.
if [ -x "$top/bin/python3" ]; then exit 0; fi
arch=$(uname -m) work=$top/work root=$top/musl/usr
rm -rf "$work" "$top/musl" "$top/lib"
mkdir -p "$work"/apt/{lists,cache}/partial "$work"/{python,zlib} "$top"/{bin,lib,musl}
cd "$work"

# Packages come through a private apt state with the system's servers and keys.
# Debian 12 has the source of Python 3.11; Debian 13 has musl 1.2.5. Debian 12's
# musl 1.2.3 is too old: it ignores the packed relocations (DT_RELR) in the
# libraries that numpy's wheel brings from Alpine, and crashes.
sed '/^$/,$d; s/^Types:.*/Types: deb deb-src/; s/^Suites:.*/Suites: bookworm trixie/' \
  /etc/apt/sources.list.d/debian.sources >apt/both.sources
apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$work/apt/both.sources" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" \
    -o APT::Sandbox::User= -o Acquire::Languages=none "$@"
}
apt update
apt download musl/trixie musl-dev/trixie linux-libc-dev/trixie
# Upstream's archives without Debian's patches: those move site-packages.
apt source --download-only --tar-only python3.11 zlib
for package in *.deb; do dpkg-deb -x "$package" "$top/musl"; done
for name in python zlib; do tar xf $name*.orig.tar.* -C $name --strip-components 1 --exclude='*/Lib/test'; done

# gcc with musl's headers, libraries and loader, all of them below FOLDER. The
# kernel's headers are linked in by name, so that no header of glibc is seen.
include=$root/include/$arch-linux-musl lib=$root/lib/$arch-linux-musl
ln -s ../linux ../asm-generic "../$arch-linux-gnu/asm" "$include"
sed -i "s# /lib/ld-musl# /usr/lib/ld-musl#; s#/usr/#$root/#g" "$lib/musl-gcc.specs"
# Python's configure compares the compiler's name for the system with its own.
printf '#!/bin/sh\n[ "$*" != --print-multiarch ] || exec echo %s\nexec gcc "$@" -specs %s\n' \
  "$arch-linux-musl" "$lib/musl-gcc.specs" >musl-gcc
chmod +x musl-gcc
export CC=$work/musl-gcc
(cd zlib && ./configure --static && make -j2 libz.a && cp libz.a "$lib" && cp zlib.h zconf.h "$include") >zlib.log

# The standard modules are linked into the executable. Python's setup.py is not
# run: it would find glibc's libraries. Hence no ctypes, ssl, sqlite3, bz2, lzma.
# musl's default stack for a thread is small (128 KiB): Python's threads get 1 MiB.
cd python
./configure --build="$arch-linux-musl" --prefix="$top" --without-ensurepip --disable-test-modules \
  MODULE_BUILDTYPE=static PKG_CONFIG=false OPT='-O1 -DNDEBUG -DTHREAD_STACK_SIZE=0x100000' >../configure.log
cp Modules/Setup.stdlib Modules/Setup.local # newer than the Makefile, so it is read
make -j2 python platform >../make.log
mv Lib "$top/lib/python3.11"
mkdir "$top/lib/python3.11/lib-dynload" # a missing one is warned about
mv build/lib.*/_sysconfigdata_*.py "$top/lib/python3.11"
mv python "$top/bin/python3"
rm -rf "$work"

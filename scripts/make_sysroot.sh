#!/usr/bin/env bash
# Makes a folder with Debian's packages of another architecture, for a cross compiler and for qemu-user. The machine's own
# dpkg and apt stay as they are.
#
# usage: make_sysroot.sh FOLDER ARCHITECTURE PACKAGE ...
#
# Takes the packages, and what they need, from the sources that the machine's apt has. FOLDER/var/lib/dpkg says what they are, for
# DPKG_ADMINDIR: dpkg-query and dpkg-shlibdeps find there the package of a file below FOLDER. Does nothing where FOLDER holds these
# packages already.
set -euo pipefail

folder=$(realpath -m "$1") architecture=$2
shift 2
wanted=$(printf '%s\n' "$architecture" "$@" "of $(md5sum < "$0")")
[[ ! -f $folder/packages.txt || $(< "$folder/packages.txt") != "$wanted" ]] || exit 0

echo "make_sysroot: filling $folder with $*" >&2
rm -rf "$folder"
work=$folder/.apt # lists and archives, removed at the end
mkdir -p "$work"/{lists,archives}/partial
: > "$work/status" # no package is installed: apt takes all that the packages need

apt() {
  # As this user: apt's own user may not write here.
  apt-get -qq -o APT::Sandbox::User="$(id -un)" -o APT::Architecture="$architecture" \
    -o APT::Architectures::="$architecture" -o Dir::State="$work" -o Dir::State::lists="$work/lists" \
    -o Dir::State::status="$work/status" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" \
    -o Debug::NoLocking=1 "$@" >&2
}
apt update
apt --yes --no-install-recommends --download-only install "$@"

known=$folder/var/lib/dpkg
mkdir -p "$known/info"
# A package of which several architectures may be installed has names with its own.
echo 1 > "$known/info/format"
printf '%s\n' "$architecture" > "$known/arch"
for package in "$work"/archives/*.deb; do
  dpkg-deb --extract "$package" "$folder"
  control=$work/control
  rm -rf "$control"
  dpkg-deb --control "$package" "$control"
  name=$(dpkg-deb --field "$package" Package)
  sed '/^Package:/a Status: install ok installed' "$control/control" >> "$known/status"
  echo >> "$known/status"
  [[ $(dpkg-deb --field "$package" Multi-Arch) != same ]] || name+=:$architecture
  for file in shlibs symbols; do [[ ! -f $control/$file ]] || cp "$control/$file" "$known/info/$name.$file"; done
  dpkg-deb --fsys-tarfile "$package" | tar --list | sed -n "s:^\./\(.*[^/]\)\$:$folder/\1:p" > "$known/info/$name.list"
done
# Links from the root would leave the folder.
find "$folder" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
  [[ ! -e $folder$target ]] || ln -sfnr "$folder$target" "$link"
done
rm -rf "$work"
echo "$wanted" > "$folder/packages.txt"

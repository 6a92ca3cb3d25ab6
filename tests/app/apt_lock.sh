# apt_lock.sh - scripts/setup waits while another apt has a lock, whichever, and then installs.  With an apt, a dpkg and a
# repository of its own; nothing of the system is touched.
. "$(dirname "$0")/common.bash"
need apt-get
need dpkg-deb
need python3
[ "$(id -u)" -eq 0 ] || { echo "skipped: apt-get wants root"; exit 77; }

# a repository with one empty package, and the folders of apt and dpkg
root=$PWD
mkdir -p package/DEBIAN repository admin/updates admin/info system state/lists/partial cache/archives/partial scripts
printf 'Package: oltr-empty\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: empty\n' >package/DEBIAN/control
dpkg-deb --root-owner-group -b package repository/oltr-empty_1_all.deb >/dev/null || fail "no package"
{
    cat package/DEBIAN/control
    echo "Filename: ./oltr-empty_1_all.deb"
    echo "Size: $(stat -c %s repository/oltr-empty_1_all.deb)"
    echo "SHA256: $(sha256sum repository/oltr-empty_1_all.deb | cut -d' ' -f1)"
} >repository/Packages
echo "deb [trusted=yes] file:$root/repository ./" >sources.list
touch admin/status
cat >apt.conf <<CONF
Dir::State "$root/state";
Dir::State::status "$root/admin/status";
Dir::Cache "$root/cache";
Dir::Etc::sourcelist "$root/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
DPkg::Pre-Install-Pkgs "";
DPkg::Options { "--admindir=$root/admin"; "--instdir=$root/system"; "--log=/dev/null"; "--force-depends"; };
CONF
export APT_CONFIG=$root/apt.conf
cp "$SOURCE/scripts/setup" scripts/
echo 'build oltr-empty' >scripts/packages.txt

# installed_after_lock FILE: while another process has this lock, setup waits; then it installs.
installed_after_lock() {
    : >admin/status
    python3 - "$1" <<'PYTHON' &
import fcntl, os, sys, time
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
open("held", "w").close()
while not os.path.exists("let-go"):
    time.sleep(0.05)
PYTHON
    local holder=$! setup
    : >said
    while [ ! -e held ]; do sleep 0.05; done
    scripts/setup >said 2>&1 &
    setup=$!
    for ((i = 0; i < 600; i++)); do
        grep -q 'waiting for another apt' said && break
        kill -0 $setup 2>/dev/null || break
        sleep 0.05
    done
    touch let-go
    wait $holder
    wait $setup || fail "did not wait for $1"
    grep -q "waiting for another apt: Could not get lock $root/$1" said || fail "does not say that it waits for $1"
    [ "$(grep -c . said)" -eq 2 ] || fail "more words than needed"
    grep -q 'Package: oltr-empty' admin/status || fail "not installed"
    rm -f held let-go
}
installed_after_lock state/lists/lock
installed_after_lock admin/lock-frontend
installed_after_lock admin/lock
installed_after_lock cache/archives/lock

# other troubles end it at once, with apt's words
: >admin/status
echo 'build oltr-no-such-package' >scripts/packages.txt
expect 1 'Unable to locate package oltr-no-such-package' scripts/setup
grep -q 'setup: apt-get install failed' said || fail "does not say what failed"
echo 'build bash' >scripts/packages.txt # is there
expect 0 '' scripts/setup
[ ! -s said ] || fail "says something where nothing is missing"
echo ok

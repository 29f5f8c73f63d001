# What runs on the host, by any POSIX shell with coreutils or busybox. A script is this file with calls of its functions
# behind it. What a pod may lack (sed, grep, tar, util-linux) is not needed, but for devices.
set -u
umask 077
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin
home=${HOME:?must name a folder: put env HOME=/mnt/data into the command}/.azbench

fact() { printf 'azbench-fact %s %s\n' "$1" "$2"; }
folder() { mkdir -p "$1" 2>/dev/null || mkdir -p "$1"; } # a campaign that ends may remove $home at this very moment
pause() { sleep 0.2 2>/dev/null || sleep 1; }

# machine: what host this is, the tools on it, and what this file needs and is not there.
machine() {
    for tool in cat df ln mkdir mktemp mv readlink rm rmdir sleep tail tr uname wc; do
        command -v "$tool" >/dev/null || fact missing "$tool"
    done
    [ -r /proc/self/mountinfo ] || fact missing /proc
    said=$(mktemp -d "$HOME/.azbench-probe-XXXXXX" 2>&1)
    rmdir "$said" 2>/dev/null || fact unwritable "$HOME ($said)"
    command -v fio >/dev/null || { fact fio ''; return; }
    fact fio "$(fio --version)"
    fio --enghelp | tail -n +2 | while read -r engine _; do fact engine "$engine"; done
    if command -v iozone >/dev/null; then
        iozone -v | while read -r _ word version _; do
            case $word in *Revision:) fact iozone "$version" ;; esac
        done
    fi
    fact os "$(. /etc/os-release 2>/dev/null && printf %s "${PRETTY_NAME:-}")"
    fact kernel "$(uname -r)"
    while read -r word size _; do [ "$word" != MemTotal: ] || fact ram_kib "$size"; done </proc/meminfo
    while read -r line; do fact mount "$line"; done </proc/self/mountinfo
    for one in /sys/class/block/loop*/loop; do
        file=$(cat "$one/backing_file" 2>/dev/null) || continue # none, or taken apart just now
        name=${one%/loop}
        fact loop "${name##*/} $(cat "$one/dio" 2>/dev/null || echo 0) $file"
    done
}

# look PATH: what is known of a directory or a device before it is touched.
look() {
    real=$(readlink -f -- "$1") || real=$1
    fact real "$real"
    if [ -b "$real" ]; then
        fact kind device
        fact total_bytes "$(blockdev --getsize64 "$real" 2>/dev/null ||
            echo $((512 * $(cat "/sys/class/block/${real##*/}/size" 2>/dev/null || echo 0))))"
    elif [ -d "$real" ]; then
        fact kind directory
        [ -w "$real" ] && [ -x "$real" ] && fact writable yes
        room "$real"
        if direct_works "$real"; then fact direct yes; fi
    elif [ -e "$real" ]; then
        fact kind other
    fi
}

# room DIRECTORY: the size of its file system and what is free. Names of shares and of mount points may hold blanks.
room() {
    said=$(df -Pk -- "$1" | tail -n 1 | tr -s ' ')
    said=${said%%% /*} said=${said% *} # "SHARE SIZE USED FREE"
    case ${said##* } in '' | *[!0-9]*) return 0 ;; esac
    fact free_bytes $((${said##* } * 1024))
    said=${said% * *}
    fact total_bytes $((${said##* } * 1024))
}

# direct_works DIRECTORY: whether the page cache can be bypassed there. The file to try it with lies in a folder of our own,
# which nobody else enters: no link of theirs is followed.
direct_works() (
    probe=$(mktemp -d -- "$1/.azbench-probe-XXXXXX" 2>/dev/null) || return 1
    trap 'rm -rf -- "$probe"' EXIT
    trap 'exit 3' HUP INT TERM
    dd if=/dev/zero of="$probe/file" bs=4096 count=1 oflag=direct 2>/dev/null
)

# look_at_device DEVICE TOKEN HOW: who uses it and what it holds, as far as HOW asks; see the guard of devices.
look_at_device() { device_facts "$1" "$2" "$3" "$home/$2"; }

# hold TARGET TOKEN: keep other campaigns of this login away from a device; a campaign takes its own up again.
hold() {
    folder "$home/$2"
    lock=$home/lock$(printf %s "$1" | tr -c 'A-Za-z0-9\n' _)
    if ! mkdir "$lock" 2>/dev/null && [ "$(cat "$lock/token" 2>/dev/null)" != "$2" ]; then fact taken "$lock"; return; fi
    printf %s "$2" >"$lock/token"
}

# alive RUN: whether its worker is at work.
alive() {
    pid=$(cat "$1/pid" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || return 1
    case $(cat "/proc/$pid/cmdline" "/proc/$pid/environ" 2>/dev/null | tr '\0' '\n') in *"$1"*) ;; *) return 1 ;; esac
}

# start TOKEN NAME: begin a run, whose script comes as the function `write_script`, unless it was begun before.
start() {
    run=$home/$1/$2
    if ! { folder "$home/$1" && mkdir "$run" 2>/dev/null; }; then
        left=50 # for another agent may be about to begin it
        while [ "$left" -gt 0 ] && [ ! -e "$run/pid" ]; do pause; left=$((left - 1)); done
        if [ -e "$run/status" ] || alive "$run"; then return; fi
        finish "$run" # what it ran may have outlived its worker, and would disturb the next
        rm -rf -- "$run"
        mkdir "$run" || exit 3
    fi
    mkdir "$run/out" && write_script >"$run/script" || exit 3
    own=$(command -v setsid) # a session of its own, where that can be had
    (trap '' HUP; exec $own sh "$run/script" "$run") </dev/null >/dev/null 2>&1 &
    printf %s $! >"$run/pid.part" && mv "$run/pid.part" "$run/pid"
    left=50 # until it can be seen at work, so that nobody takes it for gone
    while [ "$left" -gt 0 ] && [ ! -e "$run/status" ] && ! alive "$run"; do pause; left=$((left - 1)); done
}

# listening TOKEN NAME SOCKET: wait until a server has made its socket.
listening() {
    run=$home/$1/$2 left=50
    while [ "$left" -gt 0 ] && [ ! -S "$3" ] && alive "$run"; do pause; left=$((left - 1)); done
    [ -S "$3" ] || { echo "the server of fio does not listen" >&2; exit 3; }
}

# await TOKEN NAME SECONDS: wait so long for the end of a run, and tell how it stands: its status, running, or gone.
await() {
    run=$home/$1/$2 left=$(($3 * 5))
    while [ "$left" -gt 0 ] && [ ! -e "$run/status" ] && alive "$run"; do pause; left=$((left - 1)); done
    if [ -e "$run/status" ]; then fact state "$(cat "$run/status")"
    elif alive "$run"; then fact state running
    elif [ -e "$run/status" ]; then fact state "$(cat "$run/status")"
    else fact state gone; fi
}

# fetch TOKEN NAME: the outputs of a run, each behind its length and its name; packed where gzip is there.
fetch() {
    cd "$home/$1/$2/out" || exit 3
    echo azbench-outputs
    for file in .[!.]* *; do
        if [ ! -f "$file" ] || [ -L "$file" ]; then continue; fi
        printf '%s %s\n' "$(wc -c <"$file" | tr -d ' ')" "$file"
        cat -- "$file"
    done | if command -v gzip >/dev/null; then gzip -c; else cat; fi
}

# forget TOKEN NAME: remove a run whose outputs were fetched.
forget() { rm -rf -- "${home:?}/$1/$2"; }

# within RUN: the processes at work in its folder. The jobs of fio are in sessions of their own, not in its process group.
within() {
    place=$(readlink -f -- "$1")/
    [ -d "$1" ] || return 0 # or all would be within
    for one in /proc/[0-9]*; do
        case $(readlink "$one/cwd" 2>/dev/null)/ in "$place"*) echo "${one#/proc/}" ;; esac
    done
}

# finish RUN: end its worker, and all that is at work in its folder.
finish() {
    if alive "$1"; then
        kill -TERM -- "-$pid" 2>/dev/null || kill -TERM "$pid" 2>/dev/null
        left=5 # fio tells its jobs to end, and ends after them
        while [ "$left" -gt 0 ] && [ -n "$(within "$1")" ]; do pause; left=$((left - 1)); done
        kill -KILL -- "-$pid" 2>/dev/null
    fi
    left=25
    while [ "$left" -gt 0 ] && [ -n "$(within "$1")" ]; do
        # shellcheck disable=SC2046  # a word for each process
        kill -KILL $(within "$1") 2>/dev/null
        pause
        left=$((left - 1))
    done
}

# stop TOKEN [DATA]: end what runs, also in the folder of data, where a server is at work.
stop() {
    for run in "$home/$1"/* "${2:-}"; do
        if [ -d "$run" ]; then finish "$run"; fi
    done
}

# leave TOKEN DATA: remove all that the campaign made here; where somebody has mounted something in a folder of it, nothing.
leave() {
    while read -r _ _ _ _ point _; do
        case $point in *"$1"/*) echo "$point is mounted in a folder of azbench; unmount it" >&2; exit 3 ;; esac
    done </proc/self/mountinfo
    rm -rf -- "${home:?}/$1" "/tmp/azbench-${1:?}"
    if [ -n "$2" ]; then rm -rf -- "$2"; fi
    for lock in "$home"/lock*; do
        if [ "$(cat "$lock/token" 2>/dev/null)" = "$1" ]; then rm -rf -- "$lock"; fi
    done
    rmdir -- "$home" 2>/dev/null || true
}

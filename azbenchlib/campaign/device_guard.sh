# What a block device holds, and who uses it: one guard for this machine, for hosts that scripts reach and for VMs of Azure.
# POSIX sh with coreutils, diffutils and util-linux; these functions stand before the calls of a script.
#
# A device is blank where all of it was read and is zeros. Where it is too large for that, both ends and some hundred places
# were read, which suffices only where it is known besides that it is new (HOW is `new`: this campaign created it); of 4 GiB
# or more, no more of a new one is read, for reading spends the burst credits that are to be measured.
# Nothing else proves it: whether a discarded block reads as zeros, the kernel does not tell of a device (discard_zeroes_data
# is always 0 since Linux 4.12, Documentation/ABI/stable/sysfs-block), and SEEK_HOLE knows no holes of a block device.
#
# A campaign leaves its mark in the last 4 KiB, behind what it writes: its token, and which device it is. By it, a campaign
# that was killed knows its own data; that of another campaign, or on another device, is none of ours.
#
# What is well is said (`free`, `blank`, `ours`, `zeros`): where a look breaks off and says nothing, nothing is well.
guard_mark=4096 guard_end=16777216 guard_place=65536 guard_step=268435456 guard_small=4294967296 # bytes
guard_limit=300                                                                                  # s, of reading

# device_refusal DEVICE TOKEN HOW OWN: why it may not be overwritten, in words; empty where it may. HOW is `whole` or `new`;
# processes whose folder is below OWN are the campaign's.
device_refusal() {
    guard_said=$(device_in_use "$1" "$4")
    [ "$guard_said" != free ] || guard_said=$(device_holds "$1" "$2" "$3")
    case $guard_said in blank | ours) ;; *) echo "${guard_said:-cannot be looked at, so it may hold data}" ;; esac
}

# device_facts DEVICE TOKEN HOW OWN: the same as facts: `in_use` and `holds`. Where HOW is `unread`, nobody asks what it holds.
device_facts() {
    guard_said=$(device_in_use "$1" "$4")
    printf 'azbench-fact in_use %s\n' "$guard_said"
    if [ "$3" = unread ]; then echo "azbench-fact holds unread"
    elif [ "$guard_said" = free ]; then printf 'azbench-fact holds %s\n' "$(device_holds "$1" "$2" "$3")"; fi
}

# device_in_use DEVICE OWN: who uses it, one of its partitions, or the disk that it is a partition of; else `free`.
device_in_use() {
    for tool in awk cat find ls readlink sed stat; do
        command -v "$tool" >/dev/null || { echo "cannot be looked at without the program $tool"; return; }
    done
    for name in $(device_relatives "$1"); do
        numbers=$(cat "/sys/class/block/$name/dev" 2>/dev/null) || continue
        if cat /proc/[0-9]*/mountinfo 2>/dev/null | awk -v dev="$numbers" '$3 == dev { seen = 1 } END { exit !seen }'; then
            echo "is in use: /dev/$name is mounted"; return
        fi
        while read -r file _; do
            if [ "$(readlink -f "$file" 2>/dev/null)" = "/dev/$name" ]; then echo "is in use: /dev/$name is swapped to"; return; fi
        done </proc/swaps
        if [ -n "$(ls "/sys/class/block/$name/holders" 2>/dev/null)" ]; then
            echo "is in use: /dev/$name is part of a RAID or a volume group"; return
        fi
        for loop in /sys/class/block/loop*/loop/backing_file; do
            if [ "$(cat "$loop" 2>/dev/null)" = "/dev/$name" ]; then echo "is in use: a loop device leads to /dev/$name"; return; fi
        done
    done
    if [ ! -r "$1" ] || [ ! -w "$1" ]; then echo "may not be read and written by this login"; return; fi
    said=$(device_writer "$1" "$2")
    [ "$said" != free ] || said=$(device_claimed "$1")
    echo "${said:-cannot be looked at, so it may be in use}"
}

# device_relatives DEVICE: its name in the kernel, those of its partitions, and of the disk that it is a partition of.
device_relatives() {
    place=$(readlink -f "/sys/class/block/${1##*/}" 2>/dev/null) || place=
    echo "${1##*/}"
    [ -d "$place" ] || return 0
    for part in "$place"/*/partition; do
        if [ -e "$part" ]; then part=${part%/partition}; echo "${part##*/}"; fi
    done
    if [ -e "$place/partition" ]; then place=${place%/*}; echo "${place##*/}"; fi
}

# device_writer DEVICE OWN: another process that has it open for writing, as far as this login may see; else `free`.
device_writer() {
    wanted=" $(for name in $(device_relatives "$1"); do
        IFS=: read -r major minor 2>/dev/null <"/sys/class/block/$name/dev" && printf '%x:%x ' "$major" "$minor"
    done) $(stat -L -c %t:%T "$1" 2>/dev/null || true) "
    # with 1, it ends wherever a process has ended meanwhile
    files=$(find -L /proc/[0-9]*/fd -maxdepth 1 -type b 2>/dev/null && echo "end 0" || echo "end $?")
    case $files in *"end "[01]) ;; *) echo "cannot be looked at, so it may be in use"; return 0 ;; esac
    for file in ${files%end*}; do
        case $wanted in *" $(stat -L -c %t:%T "$file" 2>/dev/null) "*) ;; *) continue ;; esac
        process=${file#/proc/} process=${process%%/*}
        case $(sed -n 's/^flags:[[:space:]]*//p' "/proc/$process/fdinfo/${file##*/}" 2>/dev/null) in
            *[1256]) ;; # the last octal digit holds the access mode, open(2)
            *) continue ;;
        esac
        case $(readlink "/proc/$process/cwd" 2>/dev/null)/ in "${2:-//}"/*) continue ;; esac
        echo "is in use: process $process ($(cat "/proc/$process/comm" 2>/dev/null)) has it open for writing"
        return 0
    done
    echo free
}

# device_claimed DEVICE: whether the kernel refuses it to who wants it alone (open(2), O_EXCL), as with a member of btrfs or
# ZFS, or a mount that is not seen from here. No tool of the shell opens so; where neither language is there, what was looked
# at before has to do.
device_claimed() {
    answer=0
    if command -v perl >/dev/null; then
        perl -MFcntl -e 'sysopen(F, $ARGV[0], O_RDONLY | O_EXCL) or exit($! == 16 ? 16 : 0)' "$1" || answer=$?
    elif command -v python3 >/dev/null; then
        python3 -I -S -c 'import os, sys
try: os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)
except OSError as error: sys.exit(error.errno if error.errno == 16 else 0)' "$1" || answer=$?
    fi
    case $answer in
        0) echo free ;;
        16) echo "is in use: the system does not let go of it" ;;
        *) echo "cannot be looked at, so it may be in use" ;;
    esac
}

# device_holds DEVICE TOKEN HOW: what is on it, or why that is not known; else `blank`, or `ours`: the campaign's own.
device_holds() {
    for tool in wipefs blockdev dd cmp od sha256sum tr; do
        command -v "$tool" >/dev/null || { echo "cannot be looked at without the program $tool"; return 0; }
    done
    bytes=$(blockdev --getsize64 "$1" 2>/dev/null) || bytes=0
    types=$(wipefs --no-act --noheadings --output TYPE "$1" 2>/dev/null) || bytes=0
    [ "$bytes" -gt "$guard_mark" ] || { echo "cannot be looked at, so it may hold data"; return 0; }
    if [ -n "$types" ]; then echo "holds $(printf '%s\n' "$types" | sort -u | paste -s -d, - | sed 's/,/, /g')"; return 0; fi
    case $(device_marked "$1" "$2" "$3") in
        ours) echo ours; return 0 ;;
        other) echo "holds the data of another campaign of azbench, or of another device"; return 0 ;;
    esac
    direct=
    if dd if="$1" of=/dev/null bs="$guard_mark" count=1 iflag=direct 2>/dev/null; then direct=yes; fi
    if [ "$bytes" -gt $((2 * guard_end)) ]; then
        differs=$(device_data "$1" "$guard_place" 0 "$guard_end")
        [ "$differs" != zeros ] || differs=$(device_data "$1" "$guard_place" $((bytes / guard_place - guard_end / guard_place)) \
            $((guard_end + bytes % guard_place)))
        [ "$differs" != zeros ] || differs=$(device_drawn "$1")
        if [ "$differs" != zeros ]; then device_told "$differs"; return 0; fi
        if [ "$3" = new ] && [ "$bytes" -ge "$guard_small" ]; then echo blank; return 0; fi
    fi
    device_whole "$1"
}

# device_told DIFFERS: what was met with, in words.
device_told() {
    case $1 in
        unreadable | '') echo "cannot be read, so it may hold data" ;;
        *) echo "holds data of a kind that wipefs does not know, at byte $1" ;;
    esac
}

# device_data DEVICE BLOCK FIRST BYTES: where the first byte is that is not zero, from a block on; `zeros`: there is none.
device_data() {
    said=$(dd if="$1" bs="$2" skip="$3" count=$((($4 + $2 - 1) / $2)) ${direct:+iflag=direct} 2>/dev/null |
        LC_ALL=C cmp -n "$4" - /dev/zero 2>&1) && echo zeros && return 0
    case $said in
        *differ:*) echo $(($3 * $2 + $(device_place "$said") - 1)) ;;
        *) echo unreadable ;;
    esac
}

# device_drawn DEVICE: the same of some hundred places: drawn at random, and where ext4, XFS and btrfs keep second copies.
device_drawn() {
    units=$((bytes / guard_place))
    places=$(
        od -A n -v -t u4 -N 1024 /dev/urandom | tr -s ' ' '\n' | while read -r number; do
            [ -z "$number" ] || echo $((number * units / 4294967296))
        done
        for copy in 1024 2048 6144 10240 14336 18432 51200 4194304 $((units / 4)) $((units / 2)) $((units * 3 / 4)); do
            [ "$copy" -ge "$units" ] || echo "$copy"
        done
    )
    count=$(printf '%s\n' "$places" | wc -l)
    [ "$count" -gt 200 ] || { echo unreadable; return 0; } # nothing could be drawn
    said=$(for place in $places; do dd if="$1" bs="$guard_place" skip="$place" count=1 ${direct:+iflag=direct} 2>/dev/null; done |
        LC_ALL=C cmp -n $((count * guard_place)) - /dev/zero 2>&1) && echo zeros && return 0
    case $said in
        *differ:*)
            said=$(($(device_place "$said") - 1))
            place=$(printf '%s\n' "$places" | sed -n "$((said / guard_place + 1))p")
            echo $((place * guard_place + said % guard_place))
            ;;
        *) echo unreadable ;;
    esac
}

# device_place SAID: the number of the byte in what cmp says: "- /dev/zero differ: byte 7, line 1", or char 7.
device_place() { printf '%s\n' "$1" | sed 's/.*\(byte\|char\) \([0-9]*\),.*/\2/'; }

# device_whole DEVICE: read all of it, as far as that can be done in time; what is there, or how much was not seen, else `blank`.
device_whole() {
    seen=0 block=1048576 begun=$(date +%s)
    while [ "$seen" -lt "$bytes" ]; do
        length=$((bytes - seen < guard_step ? bytes - seen : guard_step))
        differs=$(device_data "$1" "$block" $((seen / block)) "$length")
        if [ "$differs" != zeros ]; then device_told "$differs"; return 0; fi
        seen=$((seen + length)) took=$(($(date +%s) - begun))
        if [ "$took" -ge 5 ] && [ $((bytes * took)) -gt $((seen * guard_limit)) ]; then
            echo "is larger than can be read in $((guard_limit / 60)) minutes: $(device_size "$seen") of" \
                "$(device_size "$bytes") and some hundred other places were looked at and hold nothing, and the rest may"
            return 0
        fi
    done
    echo blank
}

device_size() { if [ "$1" -lt 10737418240 ]; then echo "$(($1 / 1048576)) MiB"; else echo "$(($1 / 1073741824)) GiB"; fi; }

# device_marked DEVICE TOKEN HOW: whose mark is on it: `ours`, `other`, or empty.
device_marked() {
    last=$(blockdev --getsize64 "$1" 2>/dev/null) || return 0
    case $(dd if="$1" bs="$guard_mark" skip=$((last / guard_mark - 1)) count=1 2>/dev/null | tr -d '\0') in
        "azbench-mark 1 $2 $(device_identity "$1" "$3") $last") [ -z "$2" ] || echo ours ;;
        "azbench-mark "*) echo other ;;
    esac
}

# device_mark DEVICE TOKEN HOW: leave the mark of the campaign on a device that was found blank.
device_mark() {
    case $(device_marked "$1" "$2" "$3") in
        ours) return 0 ;;
        other) echo "$1 was marked by another campaign meanwhile" >&2; return 3 ;;
    esac
    last=$(blockdev --getsize64 "$1")
    printf 'azbench-mark 1 %s %s %s' "$2" "$(device_identity "$1" "$3")" "$last" |
        dd of="$1" bs="$guard_mark" seek=$((last / guard_mark - 1)) conv=sync,notrunc,fsync 2>/dev/null
    [ "$(device_marked "$1" "$2" "$3")" = ours ] || { echo "$1 cannot be marked" >&2; return 3; }
}

# device_identity DEVICE HOW: a hash of what the kernel tells two devices apart by, its name where it tells nothing. One that
# the campaign created needs none: nobody else has it, and at another VM it may show otherwise.
device_identity() {
    if [ "$2" = new ]; then echo new; return 0; fi
    place=$(readlink -f "/sys/class/block/${1##*/}" 2>/dev/null) || place=
    part=
    if [ -e "$place/partition" ]; then part="$(cat "$place/partition" "$place/start")" place=${place%/*}; fi
    identity=
    for file in wwid device/wwid serial device/serial dm/uuid md/uuid loop/backing_file; do
        [ -n "$identity" ] || identity=$(cat "$place/$file" 2>/dev/null | tr -d '\0')
    done
    printf '%s %s %s' "${identity:-${1##*/}}" "$part" "$(cat "$place/loop/offset" 2>/dev/null)" | sha256sum | cut -c 1-32
}

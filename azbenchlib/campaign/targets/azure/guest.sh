#!/bin/sh
# What runs on the VM. A script is this file with calls of its functions behind it.
set -eu
home=/var/lib/azbench
mkdir -p "$home"

fail() { printf 'azbench: %s\n' "$*" >&2; exit 3; }

# Wait for what cloud-init installs, and say what machine this is.
ready() {
    if command -v cloud-init >/dev/null; then cloud-init status --wait >/dev/null 2>&1 || true; fi
    if [ -d /run/systemd/system ]; then # what the first boot has to do is no part of a measurement
        timeout 600 systemctl is-system-running --wait >/dev/null 2>&1 || true
        if command -v snap >/dev/null; then snap refresh --hold >/dev/null 2>&1 || true; fi
    fi
    command -v fio >/dev/null || again
    command -v fio >/dev/null || fail "cloud-init has not installed fio: $(cloud-init status 2>&1 | tail -n 1);" \
        "$(tail -n 3 /var/log/cloud-init-output.log 2>/dev/null | tr '\n' ' ')" \
        "${said:+; apt, tried again: $(printf %s "$said" | tail -n 1)}"
    facts
}

# facts: what machine this is.
facts() {
    . /etc/os-release
    printf 'azbench-fact os %s\n' "$PRETTY_NAME"
    printf 'azbench-fact kernel %s\n' "$(uname -r)"
    printf 'azbench-fact ram_kib %s\n' "$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo)"
    printf 'azbench-fact fio %s\n' "$(fio --version)"
    if command -v iozone >/dev/null; then
        printf 'azbench-fact iozone %s\n' "$(iozone -v | sed -n 's/.*Revision: *\([0-9.]*\).*/\1/p')"
    fi
}

# again: install what cloud-init could not, as while another process had the package lists. On a fresh image this lasts
# minutes; apt waits for the lock of dpkg by itself, and for those of its lists and archives not at all.
again() {
    said=
    command -v apt-get >/dev/null || return 0
    tries=3 ends=$(($(date +%s) + 900))
    while [ "$tries" -gt 0 ] && [ "$(date +%s)" -lt "$ends" ]; do
        said=$(LC_ALL=C installed 2>&1) && return 0
        case $said in *" lock"*) ;; *) tries=$((tries - 1)) ;; esac
        sleep 20
    done
}

installed() { apt-get -q update && apt-get -q -y -o DPkg::Lock::Timeout=300 install fio; }

# The device of a data disk, by the LUN it was attached at: SCSI, or NVMe from the v6 sizes on. The links by LUN of NVMe
# disks are those of azure-vm-utils, which not every image has; there the number of the namespace tells it, which is the
# LUN and 2. Source: Azure/azure-vm-utils, udev/80-azure-disk.rules, 2026-11-23.
by_lun() {
    left=60
    while [ "$left" -gt 0 ]; do
        for link in "/dev/disk/azure/data/by-lun/$1" "/dev/disk/azure/scsi1/lun$1"; do
            if [ -b "$link" ]; then readlink -f "$link"; return; fi
        done
        for block in /sys/class/block/nvme*n"$(($1 + 2))"; do
            if grep -q '^MSFT NVMe Accelerator' "$block/device/model" 2>/dev/null; then
                printf '/dev/%s\n' "${block##*/}"
                return
            fi
        done
        left=$((left - 1))
        sleep 1
    done
    fail "LUN $1 has no device after a minute"
}

# Local NVMe disks, by the links of azure-vm-utils, else by their model.
local_nvme() {
    for link in /dev/disk/azure/local/by-index/*; do
        if [ -b "$link" ]; then readlink -f "$link"; fi
    done | sort -u >"$home/nvme"
    [ -s "$home/nvme" ] || for model in /sys/class/block/nvme*n1/device/model; do
        if grep -q '^Microsoft NVMe Direct Disk' "$model" 2>/dev/null; then
            block=${model#/sys/class/block/}
            printf '/dev/%s\n' "${block%%/*}"
        fi
    done | sort -u >"$home/nvme"
    cat "$home/nvme"
}

# claim DEVICE TOKEN: a disk that this campaign created is marked as its own, unless it is so already; one that holds
# anything else is none of it.
claim() {
    real=$(readlink -f "$1")
    if [ "$(device_marked "$real" "$2" new)" = ours ]; then return; fi
    why=$(device_refusal "$real" "$2" new "$home")
    [ -z "$why" ] || fail "$1 $why, so it is neither formatted nor written to"
    device_mark "$real" "$2" new
}

# prepare_data NAME MOUNT raw|ext4 CHUNK_KIB TOKEN DEVICE...: stripe, format, mount. Raw: MOUNT is a link to the
# bare device.
prepare_data() {
    name=$1 mount=$2 form=$3 chunk=$4 token=$5
    shift 5
    [ $# -gt 0 ] || fail "$name: this VM has no such disk"
    device=$1
    if [ $# -gt 1 ]; then
        device=/dev/md/azbench-$name
        if [ ! -b "$device" ] && ! assemble "$device" "$@"; then
            stripe "$device" "$chunk" "$@"
            device_mark "$(readlink -f "$device")" "$token" new # of disks that were blank, so it is, too
        fi
    fi
    mkdir -p "$(dirname "$mount")"
    if [ "$form" != raw ] && mountpoint -q "$mount"; then return; fi
    claim "$device" "$token"
    if [ "$form" = raw ]; then ln -sfn "$device" "$mount"; return; fi
    # Everything that mkfs has to write is written now: later it would disturb what is measured. The mark stays behind it.
    if [ "$(blkid -p -o value -s LABEL "$device")" != azbench ]; then
        mkfs.ext4 -q -L azbench -T largefile4 -E lazy_itable_init=0,lazy_journal_init=0 "$device" \
            "$((($(blockdev --getsize64 "$device") - guard_mark) / 1024))k"
    fi
    mkdir -p "$mount"
    mount -o noatime "$device" "$mount"
}

# assemble DEVICE MEMBER...: a stripe that was made before; the system may have begun with it under another name.
assemble() (
    device=$1
    shift
    for member in "$@"; do
        for holder in /sys/class/block/"${member##*/}"/holders/md*; do
            if [ -e "$holder" ]; then mdadm --stop "/dev/${holder##*/}" >/dev/null 2>&1 || true; fi
        done
    done
    mdadm --assemble "$device" "$@" >/dev/null 2>&1
)

# stripe DEVICE CHUNK_KIB MEMBER...: join blank disks.
stripe() {
    device=$1 chunk=$2
    shift 2
    for member in "$@"; do
        why=$(device_refusal "$member" "" new "$home")
        [ -z "$why" ] || fail "$member $why, so it is not made part of a stripe"
    done
    mdadm --create "$device" --homehost=any --run --level=0 --chunk="$chunk" --raid-devices=$# "$@" >/dev/null 2>&1 ||
        fail "the stripe $device could not be made"
}

# kept NAME: keep this script, which made a disk ready, and tell since which start of the VM it is so: a restart undoes
# mounts, gives devices other names, and ends the guard.
kept() {
    [ "$0" = "$home/kept-$1" ] || cp "$0" "$home/kept-$1"
    booted >"$home/booted-$1"
}

booted() { cat /proc/sys/kernel/random/boot_id; }

# noted NAME: note since which start of the VM a script is at work.
noted() { booted >"$home/script-$1"; }

# restarted NAME: whether the VM was restarted since; of a script that has not begun, nothing is said.
restarted() {
    if [ -e "$home/script-$1" ] && [ "$(cat "$home/script-$1")" != "$(booted)" ]; then echo "azbench-fact worker gone"; fi
}

# restored: make those disks ready again that were so before the VM was restarted.
restored() {
    for script in "$home"/kept-*; do
        disk=${script##*/kept-}
        if [ ! -e "$script" ] || [ "$(cat "$home/booted-$disk")" = "$(booted)" ]; then continue; fi
        sh "$script" >/dev/null || fail "the VM was restarted, and its disk $disk could not be made ready again"
    done
}

# release NAME MOUNT raw|ext4: what prepare_data did, undone; the data stays.
release() {
    rm -f "$home/kept-$1" "$home/booted-$1"
    if [ "$3" = raw ]; then rm -f "$2"; elif mountpoint -q "$2"; then umount "$2"; fi
    if [ -b "/dev/md/azbench-$1" ]; then mdadm --stop "/dev/md/azbench-$1" >/dev/null 2>&1; fi
}

# prepare_temp NAME MOUNT: the temp disk is there, formatted and mounted, where the size has one.
prepare_temp() {
    part=$(temp_device)
    [ -n "$part" ] || exit 3
    where=$(findmnt -n -o TARGET "$part" | head -n 1)
    [ -n "$where" ] || fail "the temp disk is not mounted"
    link_folder "$where/azbench" "$2"
}

temp_device() {
    part=$(readlink -f /dev/disk/azure/resource-part1) && [ -b "$part" ] || fail "this size has no temp disk"
    printf %s "$part"
}

# prepare_os NAME MOUNT: a folder on the OS disk.
prepare_os() { link_folder "$home/data-$1" "$2"; }

link_folder() {
    mkdir -p "$1" "$(dirname "$2")"
    [ -e "$2" ] || ln -s "$1" "$2"
}

# On a VM that is not ours: nothing is installed, formatted, mounted or overwritten, and all that is made goes again.

inspect() {
    command -v fio >/dev/null || fail "fio is not on this VM, and nothing is installed on it: sudo apt-get install fio"
    facts
}

# use_disk MOUNT raw|ext4 NEEDED_KIB WORDS TOKEN DEVICE: a folder on the file system that the device, or a part of it, has
# mounted; or the bare device, where it is blank and nothing uses it, or the words permit it.
use_disk() {
    mount=$1 form=$2 kib=$3 words=$4 token=$5 device=$6
    [ -b "$device" ] || fail "the VM has no such disk"
    where=$(lsblk -n -o MOUNTPOINT "$device" | grep . | head -n 1) || true
    if [ "$form" != raw ]; then
        [ "${where#/}" != "$where" ] || fail "$device has no file system that is mounted; mount it, or, where it is empty," \
            "have it driven bare (raw: true in a measurement file, --raw of a probe)"
        use_folder "$where" "$mount" "$kib" "$words"
        return
    fi
    held=
    if [ -n "$where" ]; then held="is mounted at $where"
    elif [ "$(lsblk -n -o NAME "$device" | wc -l)" != 1 ]; then held="has parts, or is a part of something"
    elif [ "$words" != "overwrite $device" ]; then held=$(device_refusal "$device" "$token" whole "$home"); fi
    [ -z "$held" ] || [ "$words" = "overwrite $device" ] || fail "$device $held, and measuring would overwrite it;" \
        "choose another disk, or permit it with the words 'overwrite $device'"
    [ "$words" = "overwrite $device" ] || kib=$((kib + guard_mark / 1024)) # for the mark, behind what is written
    [ "$(blockdev --getsize64 "$device")" -ge "$((kib * 1024))" ] || fail "$device is smaller than $kib KiB"
    [ "$words" = "overwrite $device" ] || device_mark "$device" "$token" whole
    ours "$device" "$mount"
}

# use_folder PLACE MOUNT NEEDED_KIB WORDS: a folder of our own in PLACE, where the file system has the room.
use_folder() {
    free=$(df -P -k "$1" | awk 'NR == 2 { reserve = $2 / 10; print int($4 - (reserve < 1048576 ? reserve : 1048576)) }')
    [ "$free" -ge "$3" ] || [ "$4" = "fill $1" ] || fail "$1 has $free KiB to spare, and $3 KiB are needed; measure less," \
        "or permit it with the words 'fill $1'"
    folder=${1%/}/azbench-data
    if ! grep -qsxF "$2 $folder" "$home/ours"; then
        mkdir "$folder" || fail "$folder is there already, and is not ours to use; remove it"
    fi
    ours "$folder" "$2"
}

# ours WHAT LINK: a link of our own, noted so that it can be removed, with the folder that it leads to; its path may hold blanks.
ours() {
    [ ! -e "$2" ] && [ ! -L "$2" ] || [ "$(readlink "$2")" = "$1" ] ||
        fail "$2 is there already; give the disk another path with mount:"
    grep -qsxF "$2 $1" "$home/ours" || printf '%s %s\n' "$2" "$1" >>"$home/ours"
    made "$(dirname "$2")"
    ln -sfn "$1" "$2"
}

# made FOLDER: a folder, with those that it lies in; which of them were not there is noted.
made() {
    if [ -d "$1" ]; then return; fi
    made "$(dirname "$1")"
    mkdir "$1"
    printf '%s\n' "$1" >>"$home/made"
}

# leave: end the worker with all that it started, and remove what is ours. Where none is at work, as after a restart of the
# VM, its number may be that of somebody else's process by now. What somebody has mounted in a folder of ours stays.
leave() {
    point=$(grep -o ' [^ ]*/azbench-data/[^ ]* ' /proc/self/mountinfo | head -n 1)
    [ -z "$point" ] || fail "$point is mounted in a folder of azbench; unmount it"
    if [ -s "$home/worker" ] && ! flock -n "$home/lock" true; then
        session=$(cat "$home/worker")
        pkill -TERM -s "$session" || true
        left=30
        while [ "$left" -gt 0 ] && pgrep -s "$session" >/dev/null; do left=$((left - 1)); sleep 1; done
        pkill -KILL -s "$session" || true
    fi
    if [ -e "$home/ours" ]; then
        while read -r link what; do
            [ ! -L "$link" ] || rm -f "$link"
            case $what in */azbench-data) rm -rf "$what" ;; esac
        done <"$home/ours"
    fi
    if [ -e "$home/made" ]; then tac "$home/made" | while read -r what; do rmdir "$what" || true; done; fi
    rm -rf "$home"
}

# need TOOL: a tool that not every image can install.
need() {
    command -v "$1" >/dev/null || fail "$1 is not on this VM: its image's package sources lack ${1}3, which" \
        "Ubuntu has in multiverse and Debian in non-free; take an Ubuntu image, or leave $1 out"
}

# begin PLACE LIMIT_S: the folder that the outputs of a workload go to; it is empty. No workload is run on what lies where
# a disk was before a restart.
begin() {
    restored
    out=$home/out/$1 limit=$2
    rm -rf "$out" "$out".figures "$out".logs "$out".sum
    mkdir -p "$out"
    cd "$out"
}

# lay_out MARK COMMAND...: write the data once; a mark is left on the disk's behalf when that is done.
lay_out() {
    mark=$1
    shift
    if [ -e "$mark" ]; then return; fi
    status=0
    timeout -k 30 "$limit" "$@" >layout.txt 2>&1 || status=$?
    [ "$status" = 0 ] || finish "$status" layout.txt
    rm -f layout.txt layout.json
    : >"$mark"
}

# work FOLDER TEXT COMMAND...: run fio or iozone, started in a folder; what it says goes to TEXT.
work() {
    (cd "$1" && shift && text=$1 && shift && timeout -k 30 "$limit" "$@" >"$out/$text" 2>&1) && status=0 || status=$?
    finish "$status" "$2"
}

# finish STATUS TEXT: pack the outputs, and end with the tool's status.
finish() {
    [ "$1" != 124 ] || echo "it was stopped after $limit s" >>"$2"
    [ -s "$2" ] || rm -f "$2"
    pack "$1"
    exit "$1"
}

# pack STATUS: the outputs of $out in two archives, figures and logs, and a line on them in $out.sum.
pack() {
    cd "$out"
    squeeze=$(command -v xz || command -v gzip)
    logs="0 -"
    if ls ./*.log >/dev/null 2>&1; then
        tar -cf - ./*.log | "$squeeze" >"$out.logs"
        logs=$(measured "$out.logs")
    fi
    tar -cf - --exclude='*.log' . | "$squeeze" >"$out.figures"
    printf '%s %s %s\n' "$1" "$(measured "$out.figures")" "$logs" >"$out.part"
    mv "$out.part" "$out.sum"
}

# measured FILE: its size and its hash.
measured() { printf '%s %s' "$(wc -c <"$1")" "$(sha256sum <"$1" | cut -c 1-64)"; }

# guard MANAGER GROUP LOOK_S EARLY_S: a worker that looks at the tags of the group every LOOK_S seconds, and deletes it when
# the lease of its run has ended and its time is over, or is in EARLY_S seconds: then this VM stops itself. A restart of the
# VM ends it; with the disks, it is restored.
guard() {
    if [ -z "${azbench_guard:-}" ]; then
        kept .guard
        azbench_guard=1 setsid sh "$home/kept-.guard" </dev/null >"$home/guard.log" 2>&1 9>&- & # not with the worker's lock
        return
    fi
    while sleep "$3"; do
        tags=$(manage "$1" GET "$2") || continue
        if over lease 0 && over expires "$4"; then manage "$1" DELETE "$2" || true; fi
    done
}

# manage MANAGER METHOD RESOURCE: ask the resource manager in the name of this VM. The token is no argument.
manage() {
    token=$(curl --silent --show-error --fail --max-time 30 --noproxy '*' --header 'Metadata: true' \
        "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=$1" |
        sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p')
    printf 'header = "Authorization: Bearer %s"\n' "$token" | curl --config - --request "$2" --silent --show-error --fail \
        --max-time 60 "$1$3?api-version=2021-04-01"
}

# over TAG EARLY_S: whether the moment that a tag tells is over, or will be soon; not where there is none.
over() {
    ends=$(printf %s "$tags" | tr ',{' '[\n*]' | sed -n "s/^ *\"$1\" *: *\"\([^\"]*\)\".*/\1/p")
    [ -n "$ends" ] && ends=$(date -d "$ends" +%s) && [ "$((ends - $2))" -le "$(date +%s)" ]
}

# agent ID URL [FUNCTION PLACE HASH]...: run a list of workloads, one after the other. It is carried out by a worker that
# goes on whatever becomes of this script; the script waits for it. Once more with the same or another list:
# what runs is waited for, and what is done is not done again.
agent() {
    id=$1 url=$2
    shift 2
    if [ -n "${azbench_item:-}" ]; then "$azbench_item"; return; fi
    if [ -z "${azbench_worker:-}" ]; then follow "$id"; return; fi
    : >"$home/results-$id"
    while [ $# -gt 0 ]; do
        [ "$(cat "$home/current")" = "$id" ] || return 0 # another list has taken this one's place
        carry_out "$@"
        shift 3
    done
}

# follow ID: start the worker of a list when no other one is at work any more, and wait for its end.
follow() {
    printf %s "$1" >"$home/current"
    cp "$0" "$home/agent-$1.part" && mv "$home/agent-$1.part" "$home/agent-$1" # a worker may be reading it
    exec 9>"$home/lock"
    flock 9
    azbench_worker=1 setsid sh "$home/agent-$1" </dev/null >"$home/agent.log" 2>&1 &
    printf %s "$!" >"$home/worker"
    exec 9>&-
    flock "$home/lock" true
    tail -n 3 "$home/agent.log" >&2
    tail -n 12 "$home/results-$1"
}

# alive: whether a worker is at work; none is after a restart of the VM.
alive() { if flock -n "$home/lock" true; then echo "azbench-fact worker gone"; else echo "azbench-fact worker alive"; fi; }

# carry_out FUNCTION PLACE HASH: one workload in a process of its own, unless it is done; its outputs brought away.
carry_out() {
    out=$home/out/$2
    if [ "$(cat "$out.done" 2>/dev/null)" != "$3" ]; then
        mkdir -p "$(dirname "$out")"
        rm -f "$out.sum" "$out.done"
        status=0
        azbench_item=$1 sh "$home/agent-$id" >"$out.words" 2>&1 || status=$?
        if [ ! -e "$out.sum" ]; then
            mkdir -p "$out"
            cp "$out.words" "$out/azbench.txt"
            [ "$status" != 0 ] || status=3
            (pack "$status")
        fi
        [ "$status" != 0 ] || printf %s "$3" >"$out.done"
    fi
    summary "$2" >>"$home/results-$id"
    read -r status _ sum _ logs <"$out.sum"
    upload "$out.figures" "$2/$status-$sum-$logs.figures" || true
    [ "$logs" = - ] || upload "$out.logs" "$2/$logs.logs" || true
}

# summary PLACE: what is known of a workload that ended.
summary() { if [ -e "$home/out/$1.sum" ]; then printf 'azbench-output %s %s\n' "$1" "$(cat "$home/out/$1.sum")"; fi; }

# upload FILE NAME: into the container, where there is one. What gives the right to it is neither an argument nor in a file.
# curl itself tries again what the service cannot do for the moment, and not where the network cuts the connection. With 22,
# the service refused, as it does what is there already.
upload() {
    [ -n "${azbench_sas:-}" ] || return 0
    for pause in 2 10 0; do
        sent=0
        printf 'url = "%s/%s?%s"\n' "$url" "$2" "$azbench_sas" | curl --config - --silent --show-error --fail \
            --retry 8 --retry-connrefused --max-time 900 --header 'x-ms-blob-type: BlockBlob' --upload-file "$1" || sent=$?
        case $sent in 0 | 22) return "$sent" ;; esac
        sleep "$pause"
    done
    return "$sent"
}

# chunk FILE OFFSET LENGTH: a piece of what was packed, with its hash.
chunk() {
    tail -c "+$(($2 + 1))" "$home/out/$1" | head -c "$3" >"$home/chunk"
    printf 'azbench-chunk %s %s\n' "$(sha256sum <"$home/chunk" | cut -c 1-64)" "$(base64 -w 0 <"$home/chunk")"
}

# hand_over DEVICE PLACE...: the packed outputs of workloads that ended, as a tar on a bare disk that is blank, from the
# 4,097th byte on. Its length and its hash stand before it; they are written last, so that a part is never taken for a whole.
hand_over() {
    device=$1
    shift
    why=$(device_refusal "$device" "" new "$home")
    [ -z "$why" ] || fail "$device $why, so no results are written onto it"
    for place in "$@"; do
        if [ ! -e "$home/out/$place.sum" ]; then continue; fi
        for part in sum figures logs; do [ ! -e "$home/out/$place.$part" ] || echo "$place.$part"; done
    done >"$home/handed"
    bytes=$(tar -cf - -C "$home/out" -T "$home/handed" | wc -c)
    { head -c 4096 /dev/zero && tar -cf - -C "$home/out" -T "$home/handed"; } >"$device"
    hash=$(tail -c +4097 "$device" | head -c "$bytes" | sha256sum | cut -c 1-64)
    printf 'azbench-results %s %s\n' "$bytes" "$hash" | dd of="$device" bs=4096 conv=sync,notrunc,fsync 2>/dev/null
}

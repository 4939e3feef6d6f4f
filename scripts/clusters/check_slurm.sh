#!/usr/bin/env bash
# Runs the job array of docs/how-to/clusters.md on a real Slurm, a controller and a node on this machine. One task is killed and
# submitted again. The merged file must have the bytes of the unsplit sweep. Needs root, and slurmctld, slurmd, slurm-client and
# munge from Debian; no systemd. All files are in a temporary folder, and no process remains afterwards.
#
#     scripts/clusters/check_slurm.sh target/release/headlight
set -euo pipefail
cd "$(dirname "$0")/../.."
headlight=$(realpath "$1")
work=$(mktemp -d)
export SLURM_CONF=$work/slurm.conf PATH=$(dirname "$headlight"):$PATH

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fail() {
    trap - ERR
    echo "check_slurm: $*" >&2
    squeue >&2 || true
    sinfo -N >&2 || true
    tail -n 20 "$work"/*.log >&2
    exit 1
}

# Processes of this cluster whose environment also has these entries.
processes() {
    local pid word
    for pid in $(cd /proc && ls -d [0-9]*); do
        for word in "SLURM_CONF=$SLURM_CONF" "$@"; do
            tr '\0' '\n' < "/proc/$pid/environ" | grep -qxF -- "$word" || continue 2
        done
        echo "$pid"
    done
} 2>/dev/null

take_down() {
    local pid
    for pid in $(processes); do
        kill -9 "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap take_down EXIT
trap 'fail "the command at line $LINENO failed"' ERR

say "a controller and a node"
host=$(hostname -s)
mkdir -p "$work"/{state,spool-node1}
(umask 077 && head -c 1024 /dev/urandom > "$work/munge.key")
port=$((20000 + RANDOM % 10000))
cat > "$SLURM_CONF" <<CONF
ClusterName=headlight
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=5
SchedulerParameters=batch_sched_delay=1,sched_interval=2
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=60
CONF
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munged.pid" --seed-file="$work/munged.seed" 2> "$work/munged.log" &
disown
until [ -S "$work/munge.socket" ]; do sleep 0.1; done
slurmctld -D 2> "$work/slurmctld.log" &
disown
slurmd -D -N node1 2>> "$work/node1.log" &
disown

# within SECONDS MESSAGE COMMAND...: waits until the command succeeds; fails with MESSAGE after SECONDS.
within() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "$what"
        sleep 0.1
    done
}
node_is_idle() { [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ]; }
within 30 "the node does not come up" node_is_idle

# The script of the document, with a smaller sweep and tasks of one core.
sed -n '/^## Slurm/,/^## GNU/{/^```text/,/^```/{/^```/d;p}}' docs/how-to/clusters.md |
    sed -e 's/notebook --seeds 0..100000 --threads 4/notebook --set training.epochs=10 --seeds 0..2000 --threads 1/' \
        -e 's/--cpus-per-task=4/--cpus-per-task=1/' -e 's/--mem=2G/--mem=500/' > "$work/sweep.sbatch"
cd "$work"
job=$(sbatch --parsable sweep.sbatch)
say "2,000 seeds as array $job of 8 tasks"

rows() { wc -l 2>/dev/null < "$work/results/seeds-$1-of-8.jsonl" || echo 0; }
# Sets `task` to a running task whose shard has some rows and lacks others.
under_way() {
    local found
    for found in $(squeue --noheader --job="$job" --states=RUNNING --format=%K); do
        if [ "$(rows "$found")" -gt 20 ] && [ "$(rows "$found")" -lt 200 ]; then
            task=$found
            return
        fi
    done
    return 1
}
state_is() { [ "$(scontrol show job "${job}_$1" | grep -oE -m1 'JobState=[A-Z_]+' | cut -d= -f2)" = "$2" ]; }

within 60 "no task is in progress" under_way
kill -9 $(processes "SLURM_ARRAY_TASK_ID=$task")
within 20 "task $task has not failed" state_is "$task" FAILED
say "task $task killed with $(rows "$task") rows: failed; submitted again"
again=$(sbatch --parsable --array="$task" sweep.sbatch)
over() { [ -z "$(squeue --noheader --job="$job,$again")" ]; }
within 120 "the tasks do not end" over
headlight merge results/seeds-*-of-8.jsonl --out results/seeds.jsonl
say "merged; now the unsplit sweep"
headlight sweep notebook --set training.epochs=10 --seeds 0..2000 --out single.jsonl > single.log 2>&1
cmp results/seeds.jsonl single.jsonl || fail "the merged results differ from the unsplit sweep's"
[ "$(ls results | wc -l)" = 10 ] || fail "there are files other than one per task, the merged one and the config"

take_down
[ -z "$(processes)" ] || fail "something still runs"
say "the same bytes, and no process remains"

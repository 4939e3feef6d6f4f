#!/usr/bin/env bash
# Runs a sweep on a real Slurm, a controller and two nodes on this machine, through
# scripts/clusters/slurm/sweep.sbatch. One task is killed, one is warned, one is cancelled, one node dies, and the
# other loses only its daemon. The merged file must have the bytes of the unsplit sweep. Needs root, and slurmctld,
# slurmd, slurm-client and munge from Debian; no systemd. All files are in a temporary folder, and no process
# remains afterwards.
#
#     scripts/clusters/check_slurm.sh target/release/headlight
set -euo pipefail
cd "$(dirname "$0")/../.."
headlight=$(realpath "$1")
work=$(mktemp -d)
export SLURM_CONF=$work/slurm.conf HEADLIGHT=$headlight

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

# The same, and the step daemons above them, which clear their environment.
processes_and_steps() {
    local pid parent
    for pid in $(processes "$@"); do
        parent=$(sed -n 's/^PPid:\t//p' "/proc/$pid/status")
        echo "$pid"
        if [ "$(cat "/proc/$parent/comm")" = slurmstepd ]; then
            echo "$parent"
        fi
    done | sort -u
} 2>/dev/null

take_down() {
    local pid
    for pid in $(processes_and_steps "HEADLIGHT=$headlight"); do
        kill -9 "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap take_down EXIT
trap 'fail "the command at line $LINENO failed"' ERR

say "a controller and two nodes"
host=$(hostname -s)
mkdir -p "$work"/{state,spool-node1,spool-node2,results}
(umask 077 && head -c 1024 /dev/urandom > "$work/munge.key")
port=$((20000 + RANDOM % 10000))
cat > "$SLURM_CONF" <<CONF
ClusterName=headlight
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A requeued task may start only once its old credential has expired, by default after 120 s.
AuthInfo=socket=$work/munge.socket,cred_expire=5
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
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 RealMemory=1000
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=60
CONF
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munged.pid" --seed-file="$work/munged.seed" 2> "$work/munged.log" &
disown
until [ -S "$work/munge.socket" ]; do sleep 0.1; done
slurmctld -D 2> "$work/slurmctld.log" &
disown
declare -A daemon
node() {
    slurmd -D -N "$1" 2>> "$work/$1.log" &
    daemon[$1]=$!
    disown
}
node node1
node node2

# within SECONDS MESSAGE COMMAND...: waits until the command succeeds; fails with MESSAGE after SECONDS.
within() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "$what"
        sleep 0.1
    done
}
nodes_are() { [ "$(sinfo --noheader --Node --format=%t 2>/dev/null | grep -cE "$2")" = "$1" ]; }
within 30 "the nodes do not come up" nodes_are 2 '^idle$'

sweep=(configs/notebook.toml --set training.epochs=10 --seeds 0..2000)
submit() { sbatch --parsable --cpus-per-task=1 --mem=500 --time=10 --output="$work/sweep.log" "$@"; }
array=(--shards 8 --out "$work/results/seeds.jsonl")
job=$(submit --array=1-8 scripts/clusters/slurm/sweep.sbatch "${sweep[@]}" "${array[@]}")
say "2,000 seeds as array $job of 8 tasks"

rows() { wc -l 2>/dev/null < "$work/results/seeds-$1-of-8.jsonl" || echo 0; }
# Sets `task` to a running task whose shard has some rows and lacks others; on the node $1, if given.
under_way() {
    local found
    for found in $(squeue --noheader --job="$job" --states=RUNNING ${1:+--nodelist="$1"} --format=%K); do
        if [ "$(rows "$found")" -gt 20 ] && [ "$(rows "$found")" -lt 200 ]; then
            task=$found
            return
        fi
    done
    return 1
}
state() { scontrol show job "${job}_$1" | grep -oE -m1 'JobState=[A-Z_]+' | cut -d= -f2; }
state_is() { [ "$(state "$1")" = "$2" ]; }

within 60 "no task is in progress" under_way
kill -9 $(processes SLURM_STEP_ID=0 "SLURM_ARRAY_TASK_ID=$task")
within 20 "task $task has not failed" state_is "$task" FAILED
say "task $task killed with $(rows "$task") rows: failed; requeued by hand"
scontrol requeue "${job}_$task"

within 60 "no task is in progress" under_way
# If the signal ends the step at once, scancel complains that it finds no step.
scancel --signal=USR1 "$(squeue --noheader --job="${job}_$task" --format=%A).0" 2>/dev/null || true
within 20 "task $task did not requeue itself" grep -q "task ${job}_$task was stopped (exit code 138)" "$work/sweep.log"
say "task $task warned with SIGUSR1 at $(rows "$task") rows: it requeued itself"

within 60 "no task is in progress" under_way
scancel "${job}_$task"
within 20 "task $task is not cancelled" state_is "$task" CANCELLED
cancelled=$task
say "task $task cancelled at $(rows "$task") rows: it stays cancelled"

within 60 "no task is in progress on node2" under_way node2
lost=$task
# Stopped first, so that no process of the dying node can report the death of another.
dying="$(processes_and_steps SLURMD_NODENAME=node2) ${daemon[node2]}"
kill -STOP $dying
kill -9 $dying
say "node2 dead with task $lost at $(rows "$lost") rows"

within 60 "no task is in progress on node1" under_way node1
kill -9 "${daemon[node1]}"
node node1
say "the daemon of node1 killed and started again with task $task at $(rows "$task") rows"

within 60 "node2 is not down" nodes_are 1 '^down'
requeued() { scontrol show job "${job}_$lost" | grep -q 'Restarts=[1-9]'; }
within 20 "task $lost was not requeued" requeued
node node2
within 30 "node2 does not come back" nodes_are 0 '^down'
say "node2 was found down, its task requeued, and is back"

# Tasks can be submitted again alone: the array is another, the shards are the same.
again=$(submit --array="$cancelled" scripts/clusters/slurm/sweep.sbatch "${sweep[@]}" "${array[@]}")
over() { [ -z "$(squeue --noheader --job="$job,$again")" ]; }
within 120 "the tasks do not end" over
"$headlight" merge "$work"/results/seeds-*-of-8.jsonl --out "$work/results/seeds.jsonl"
say "merged; now the unsplit sweep"
"$headlight" sweep "${sweep[@]}" --out "$work/single.jsonl" > "$work/single.log" 2>&1
cmp "$work/results/seeds.jsonl" "$work/single.jsonl" || fail "the merged results differ from the unsplit sweep's"
[ "$(ls "$work/results" | wc -l)" = 10 ] || fail "there are files other than one per task, the merged one and the config"

take_down
[ -z "$(processes "HEADLIGHT=$headlight")" ] || fail "something still runs"
say "the same bytes, and no process remains"

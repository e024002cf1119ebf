import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every Linux on which Node.js runs. */
const TICK_US = 10_000;
/** The positions of utime and stime in /proc/<pid>/stat, counted after the name of the command. */
const USER = 11;
const SYSTEM = 12;
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

/** Returns the CPU time of a process since its start, user and system, in microseconds. */
export function cpuTimeUs(pid: number): number {
  return sumOfTicksUs(pid, [USER, SYSTEM]);
}

/** Returns the CPU time of the children of this process that have ended, in microseconds. */
export function childrenCpuTimeUs(): number {
  return sumOfTicksUs(process.pid, [CHILDREN_USER, CHILDREN_SYSTEM]);
}

function sumOfTicksUs(pid: number, fields: readonly number[]): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.reduce((sum, field) => sum + Number(values[field]), 0) * TICK_US;
}

/** Returns the CPU time of all processes since the machine was booted, in microseconds. */
export function totalCpuTimeUs(): number {
  const [, user, nice, system, , , irq, softirq, steal] = (
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? ''
  )
    .split(/\s+/)
    .map(Number);
  return [user, nice, system, irq, softirq, steal].reduce<number>(
    (sum, ticks) => sum + (ticks ?? 0) * TICK_US,
    0,
  );
}

/** Returns the largest resident set that a process has had, in MiB. */
export function peakMemoryMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}

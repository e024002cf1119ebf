import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, on every Linux that Node runs on. */
const TICK_US = 10_000;
/** Of /proc/<pid>/stat, counted after the name of the command: utime and stime. */
const USER = 11;
const SYSTEM = 12;
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

/** What a process has used of the processors since it began, user and system, in microseconds. */
export function processorTime(pid: number): number {
  return sumOfTicks(pid, [USER, SYSTEM]);
}

/** What the children of this process that have ended have used, in microseconds. */
export function childrenTime(): number {
  return sumOfTicks(process.pid, [CHILDREN_USER, CHILDREN_SYSTEM]);
}

function sumOfTicks(pid: number, fields: readonly number[]): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.reduce((sum, field) => sum + Number(values[field]), 0) * TICK_US;
}

/** What all processes together have used since the machine began, in microseconds. */
export function allProcessorTime(): number {
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

/** The most memory that a process has held at once, in MiB. */
export function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './peers.js';

/** Replaces what is between the markers of a section, `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`, in a page. */
export function writeSection(page: string, name: string, content: string): void {
  const path = join(root, page);
  const text = readFileSync(path, 'utf8');
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} lacks ${begin} or ${end}`);
  writeFileSync(path, `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`);
}

/** Describes what was measured, and where. */
export function machine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root });
  const processors = `${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'})`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, commit ${`${commit}`.trim()}, ${processors}, ${memory}, Node.js ${process.version}`;
}

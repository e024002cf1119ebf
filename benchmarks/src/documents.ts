import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './peers.js';

/** Replaces what is between the markers of a section, `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`, in a page. */
export function writeSection(page: string, name: string, content: string): void {
  const [before, , after] = partsOf(page, name);
  writeFileSync(join(root, page), `${before}\n${content}\n${after}`);
}

/** Returns what is between the markers of a section. */
export function readSection(page: string, name: string): string {
  return partsOf(page, name)[1].trim();
}

/** Returns what is before the content of a section, with its marker, the content, and what is after it. */
function partsOf(page: string, name: string): [before: string, content: string, after: string] {
  const text = readFileSync(join(root, page), 'utf8');
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (!text.includes(begin) || to < from) throw new Error(`${page} lacks ${begin} or ${end}`);
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}

/** Describes what was measured, and where. */
export function machine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root });
  const processors = `${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'})`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, commit ${`${commit}`.trim()}, ${processors}, ${memory}, Node.js ${process.version}`;
}

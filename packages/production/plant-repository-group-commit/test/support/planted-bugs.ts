import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Tested } from './explored-model.js';

/** Replaces a text of a file, which must occur there. */
interface Bug {
  readonly file: 'availability' | 'batch' | 'group-commit';
  readonly text: string;
  readonly by: string;
}

const batch = (text: string, by: string): Bug => ({ file: 'batch', text, by });
const commit = (text: string, by: string): Bug => ({ file: 'group-commit', text, by });

/** Bugs, by the model that notices them. One that only costs inserts would change no outcome. */
export const BUGS: Readonly<Record<string, Readonly<Record<string, Bug>>>> = {
  'one plant': {
    'a plant that is sent counts as unwritten': batch("it.state = 'sent'", "it.state = 'queued'"),
    'a plant that is not written counts as possibly written': batch(
      "isFirst && written === 'no'",
      'false',
    ),
    'an unusable database counts as a refused plant': batch(
      'giveUp(plant, cause, cause.message)',
      'settle(plant, new Error(cause.message))',
    ),
    'a plant that was not stored is': batch("if (written === 'yes')", "if (written !== 'unknown')"),
    'a plant expires late': commit('clock.after(timeLimitMs,', 'clock.after(2 * timeLimitMs,'),
    'an insert is replaced although it may have written': batch(
      'this.#insert ??= database',
      'this.#insert = database',
    ),
    'an insert is not ended': batch('this.#insert?.end?.();', ''),
    'the pause lasts a second': batch('PAUSE_MS * 2 **', '20 * PAUSE_MS * 2 **'),
  },
  'one plant, and much time': {
    'a lost reply is waited for': batch('this.#insert?.lose(', 'void ('),
    'a reply is lost before it is due': batch('REPLY_MS * patience', '10 * patience'),
  },
  'different ids in a batch': {
    'a plant may have two outcomes': batch('if (!isPending(plant))\n        return;', ''),
    'an insert that is sent again lacks expired plants': batch(
      'if (this.#attempts === 0)',
      'if (true)',
    ),
  },
  'another program that stores the id, and a short time limit': {
    'a new insert still contains expired plants': batch('if (this.#attempts === 0)', 'if (false)'),
  },
  'a server that does not recognise repeated inserts': {
    'an insert is sent twice': batch('&& this.#insert?.isRepeatable', ''),
  },
  'room for one insert, and one again': {
    'there is no limit to the inserts that are sent again': commit(
      "if (!this.#hasPlace('aside'))",
      'if (false)',
    ),
    'a batch that ends keeps its place': commit('batch.place = undefined', ''),
  },
  'an instance that is closed': {
    'what cannot be written is waited for after close': batch(
      "if (it.state === 'queued')\n                giveUp",
      "if (it.state === 'settled')\n                giveUp",
    ),
  },
  'no time, a fraction of a millisecond, and no time limit': {
    'an insert is sent without time': commit('if (timeLimitMs <= 0)', 'if (timeLimitMs < 0)'),
  },
};

let copies = 0;

/** Calls with classes that have a bug. */
export async function withBug<T>({ file, text, by }: Bug, call: (tested: Tested) => Promise<T>) {
  copies += 1;
  const folder = new URL(`../../src-with-bug-${copies}/`, import.meta.url);
  await cp(new URL('../../src/', import.meta.url), folder, { recursive: true });
  try {
    const url = new URL(`${file}.js`, folder);
    const source = await readFile(url, 'utf8');
    if (!source.includes(text)) throw new Error(`${fileURLToPath(url)} does not contain ${text}`);
    await writeFile(url, source.replace(text, by));
    const { Availability } = await import(new URL('availability.js', folder).href);
    const { GroupCommit } = await import(new URL('group-commit.js', folder).href);
    return await call({ Availability, GroupCommit });
  } finally {
    await rm(folder, { recursive: true });
  }
}

import type { Create } from './clients.js';

/** What is shown of a subject. */
export interface Watched {
  readonly name: string;
  readonly creates: readonly Create[];
}

const SECOND_MS = 1_000;
/** Six cells and the seconds fit into 80 columns. */
const CELL = 12;

/** Prints what happens, and each second what the responses of each subject reported in it. */
export class Watch {
  readonly #print: (line: string) => unknown;
  #watched: readonly Watched[] = [];
  #seen: number[] = [];
  #seconds = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(print: (line: string) => unknown) {
    this.#print = print;
  }

  say(what: string): void {
    this.#print(`--- ${what}`);
  }

  begin(watched: readonly Watched[]): void {
    this.#watched = watched;
    this.#seen = watched.map(() => 0);
    const numbered = watched.map(({ name }, index) => `    ${index + 1}  ${name}`);
    this.#print(`${numbered.join('\n')}\nCreates stored in each second, and f failed, u unknown:`);
    this.#row(
      '',
      watched.map((_, index) => `${index + 1}`),
    );
    this.#timer = setInterval(() => this.#tick(), SECOND_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#seconds += 1;
    const cells = this.#watched.map(({ creates }, index) => {
      const news = creates.slice(this.#seen[index]);
      this.#seen[index] = creates.length;
      return summary(news);
    });
    this.#row(`${this.#seconds} s`, cells);
  }

  #row(title: string, cells: readonly string[]): void {
    this.#print([title.padStart(5), ...cells.map((cell) => cell.padStart(CELL))].join(''));
  }
}

/** Returns how many creates were stored, and what else responses reported, by its first letter. */
function summary(creates: readonly Create[]): string {
  const count = (reported: Create['reported']) =>
    creates.filter((create) => create.reported === reported).length;
  const others = (['failed', 'unknown'] as const)
    .filter((reported) => count(reported) > 0)
    .map((reported) => `${count(reported)}${reported[0]} `);
  return `${others.join('')}${count('stored')}`;
}

import { PERMISSIONS, type Permission } from '@plant-store/domain';
import { type TokenDigest, tokenProblem } from './token-digest.js';

/** The tokens file or list is invalid. Each problem names its place and never repeats the text. */
export class InvalidTokensError extends Error {
  override readonly name = 'InvalidTokensError';
  readonly code = 'INVALID_TOKENS';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** One token of a file or list, and its place, such as `line 3`. The permissions are checked last. */
interface Entry extends Omit<TokenDigest, 'permissions'> {
  readonly place: string;
  readonly permissions?: readonly string[] | undefined;
}

/**
 * Reads a tokens file. Each line is `digest label` or `digest label [permission, permission]`; a `#` at its beginning or
 * after a space starts a comment. Labels may repeat, digests may not. A label must not look as if it named permissions.
 *
 * @throws {InvalidTokensError} with every problem and its line, or if there is no token, as in a file being written.
 */
export function parseTokensFile(text: string): TokenDigest[] {
  return checkedEntries(
    text
      .split(/\r?\n/)
      .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
      .map((line, index) => ({ place: `line ${index + 1}`, ...tokenOf(line) }))
      .filter(({ sha256 }) => sha256 !== ''),
  );
}

/** Reads digests separated by commas, labelled `token 1` and so on. @throws {InvalidTokensError} with every problem. */
export function parseTokensList(text: string): TokenDigest[] {
  return checkedEntries(
    text.split(',').map((digest, index) => {
      const label = `token ${index + 1}`;
      return { place: label, sha256: digest.trim(), label };
    }),
  );
}

function tokenOf(line: string): Omit<Entry, 'place'> {
  const [sha256 = ''] = line.split(/\s/, 1);
  const [, label = '', names] = /^(.*?)(?:\[([^[\]]*)\])?$/.exec(line.slice(sha256.length)) ?? [];
  const permissions = names?.split(',').map((name) => name.trim());
  return { sha256, label: label.trim(), permissions: permissions?.filter((name) => name !== '') };
}

function checkedEntries(entries: readonly Entry[]): TokenDigest[] {
  const places = new Map<string, string>();
  const problems = entries.flatMap((entry) => {
    const digest = entry.sha256.toLowerCase();
    const first = places.get(digest);
    places.set(digest, first ?? entry.place);
    const twice = first === undefined ? undefined : `duplicate of the digest in ${first}`;
    const problem = tokenProblem(entry) ?? permissionsProblem(entry) ?? twice;
    return problem === undefined ? [] : [`${entry.place}: ${problem}`];
  });
  if (entries.length === 0) problems.push('no tokens found');
  if (problems.length > 0) throw new InvalidTokensError(problems);
  return entries.map(({ place, permissions, ...token }) =>
    permissions ? { ...token, permissions: permissions.filter(isPermission) } : token,
  );
}

/** A token without a list gets the default permissions, so a misspelt list must not become part of the label. */
const MISPLACED = new RegExp(
  `[[\\]{}]|${PERMISSIONS.map((name) => name.replace(' ', '[\\W_]*')).join('|')}`,
  'i',
);

function permissionsProblem({ label, permissions = [] }: Entry): string | undefined {
  if (MISPLACED.test(label.normalize('NFKC')))
    return 'the label must not contain brackets or permission names: put permissions in one list in [ ] at the end of the line';
  if (permissions.every(isPermission)) return undefined;
  return `each permission must be one of: ${PERMISSIONS.join(', ')}`;
}

function isPermission(name: string): name is Permission {
  return PERMISSIONS.some((permission) => permission === name);
}

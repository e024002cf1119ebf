import { cp, mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the workspace. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url));

const NOT_COPIED: ReadonlySet<string> = new Set(['.git', '.cache', 'node_modules']);

/** The scope of the workspace's own packages, which are linked within the copy. */
const OWN_SCOPE = '@plant-store';

/**
 * Copies the built workspace, so that a run never changes the original, however it ends. Links third-party
 * packages instead of copying them.
 */
export async function copyWorkspace(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'plant-store-mutate-'));
  const filter = (path: string) => !NOT_COPIED.has(basename(path));
  await cp(root, copy, { recursive: true, verbatimSymlinks: true, filter });
  await symlink(join(root, '.cache'), join(copy, '.cache'));
  await linkModules(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function linkModules(from: string, to: string): Promise<void> {
  await mkdir(join(to, OWN_SCOPE), { recursive: true });
  for (const name of await readdir(from)) {
    if (name !== OWN_SCOPE) await symlink(join(from, name), join(to, name));
  }
  for (const name of await readdir(join(from, OWN_SCOPE))) {
    await symlink(await readlink(join(from, OWN_SCOPE, name)), join(to, OWN_SCOPE, name));
  }
}

/** Deletes a copy of the workspace. */
export function removeCopy(copy: string): Promise<void> {
  return rm(copy, { recursive: true, force: true, maxRetries: 5 });
}

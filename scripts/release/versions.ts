import { read, run, write } from './project.js';

/** What the version of a state has that is no release. */
const SUFFIX = '-dev';

/** Returns the release that a version is on the way to, or is. */
export function releaseOf(version: string): string {
  return version.replace(SUFFIX, '');
}

/** Returns the version that follows a release: its next minor one, which is no release yet. */
export function versionAfter(release: string): string {
  const [major, minor] = release.split('.').map(Number);
  return `${major}.${Number(minor) + 1}.0${SUFFIX}`;
}

/**
 * Replaces a version in every file of the repository: manifests, the lockfile, manifests of Kubernetes, documents.
 * The changelog has its own versions.
 *
 * @param from A version that is no release: no other text in the repository is like it.
 */
export function replaceVersion(from: string, to: string): void {
  const args = ['grep', '-l', '--fixed-strings', from, '--', ':!CHANGELOG.md'];
  for (const file of run('git', ...args).split('\n')) write(file, read(file).replaceAll(from, to));
}

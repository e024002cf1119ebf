import { read, run, write } from './project.js';

/** The end of a version that is not a release. */
const SUFFIX = '-dev';

/** Returns the release that a version is on the way to, or is. */
export function releaseOf(version: string): string {
  return version.replace(SUFFIX, '');
}

/** Returns the version that follows a release: the next minor version, not released yet. */
export function versionAfter(release: string): string {
  const [major, minor] = release.split('.').map(Number);
  return `${major}.${Number(minor) + 1}.0${SUFFIX}`;
}

/**
 * Replaces a version in every file of the repository: manifests, the lockfile, manifests of Kubernetes, documents.
 * The changelog has its own versions.
 *
 * @param from A version that is not a release: no other text in the repository looks like it.
 */
export function replaceVersion(from: string, to: string): void {
  const args = ['grep', '-l', '--fixed-strings', from, '--', ':!CHANGELOG.md'];
  for (const file of run('git', ...args).split('\n')) write(file, read(file).replaceAll(from, to));
}

import { nearest } from '../messages/wording.js';
import type { Settings } from './setting.js';

/** A variable that is not a setting, but has the name of one except for one edit, its case, or a needless `_FILE`. */
export interface LookAlike {
  /** The setting that was probably meant. */
  readonly setting: string;
  readonly problem: string;
}

/** Returns the look-alikes among environment variables. Most belong to other programs, so most are no reason to stop. */
export function lookAlikesIn(given: NodeJS.ProcessEnv, settings: Settings): LookAlike[] {
  const meanings = new Map(
    Object.entries(settings).flatMap(([setting, { secret }]) => [
      [setting, { setting, meant: setting }],
      [`${setting}_FILE`, { setting, meant: secret ? `${setting}_FILE` : setting }],
    ]),
  );
  return Object.keys(given).flatMap((name) => {
    const { setting, meant } =
      meanings.get(nearest(name.toUpperCase(), [...meanings.keys()]) ?? '') ?? {};
    if (setting === undefined || meant === name) return [];
    return [{ setting, problem: `${name}: unknown variable. Did you mean ${meant}?` }];
  });
}

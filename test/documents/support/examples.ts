import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../../markdown.js';
import { root } from '../../root.js';

/** The example in the doc comment of an export. */
export interface Example {
  /** The name of the export. */
  readonly name: string;
  readonly code: string;
}

/** A doc comment, and the export after it. */
const DOCUMENTED =
  /^\/\*\*\n((?: \*.*\n)+?) \*\/\nexport (?:async )?(?:class|const|function) (\w+)/gm;
const EXAMPLE = /^ \* @example\n \* ```ts\n([\s\S]+?)^ \* ```$/m;

/** Returns the examples of all packages. */
export function examples(): Example[] {
  const files = filesBelow(join(root, 'packages')).filter((file) => /\/src\/.*\.ts$/.test(file));
  const documented = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(DOCUMENTED)]);
  return documented.flatMap(([, comment = '', name = '']) => {
    const lines = EXAMPLE.exec(comment)?.[1];
    return lines === undefined ? [] : [{ name, code: lines.replaceAll(/^ \* ?/gm, '') }];
  });
}

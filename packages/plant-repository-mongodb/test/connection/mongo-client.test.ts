import { readFileSync } from 'node:fs';
import {
  InvalidMongoUriError,
  MongoPlantRepository,
  mongoUriProblem,
} from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import {
  connectionOptionsOf,
  createMongoClient,
  databaseOf,
} from '../../src/connection/mongo-client.js';

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
      expect(error).to.include({ name: 'InvalidMongoUriError', code: 'INVALID_MONGO_URI' });
      const { message, stack, cause } = error as Error;
      expect([message, stack, cause].join()).to.not.match(/s3|cret|gardener/);
      expect(message).to.not.equal('');
    });
  }

  const HOSTS =
    'the form is mongodb://user:password@host:port,host:port/database or mongodb+srv://user:password@host/database, with the user and the password percent-encoded';
  const NAME = 'the name of the database must have 1 to 63 characters, none of /\\. "$';
  const named = {
    'mongodb://a:b@host,other/?directConnection=true':
      'directConnection option requires exactly one host',
    'mongodb://a:b@host/?minPoolSize=17': 'minPoolSize must not be above 16',
    'mongodb://a:b@host/?colour=green': 'option colour is not supported',
    'mongodb://a:b@host:port/': HOSTS,
    'mongodb://a:b': HOSTS,
    'postgres://a:b@host/': 'it must begin with "mongodb://" or "mongodb+srv://"',
    'mongodb://a:b@host/my%20garden': NAME,
    [`mongodb://a:b@host/${'x'.repeat(64)}`]: NAME,
    'mongodb://host/?tlsCAFile=/no': 'the file that tlsCAFile names cannot be read',
  };
  for (const [uri, problem] of Object.entries(named)) {
    it(`is refused for what is wrong with ${uri}: ${problem}`, () => {
      expect(() => new MongoPlantRepository({ uri }))
        .to.throw(InvalidMongoUriError)
        .with.property('message', problem);
      expect(mongoUriProblem(uri)).to.equal(problem);
    });
  }

  for (const uri of [
    'mongodb://host/?minPoolSize=16',
    'mongodb+srv://host.example.com/',
    `mongodb://host/${'x'.repeat(63)}`,
  ]) {
    it(`has no problem: ${uri}`, () => expect(mongoUriProblem(uri)).to.equal(undefined));
  }

  it('has the options that explain a failed connection', () => {
    const optionsOf = (uri: string) => connectionOptionsOf(createMongoClient(uri));
    expect(optionsOf('mongodb://host/')).to.include({
      ...{ replicaSet: undefined, x509: false, clientCertificate: false },
    });
    expect(optionsOf('mongodb://a:b@host/?tls=true&replicaSet=rs0')).to.deep.equal({
      ...{ tls: true, replicaSet: 'rs0', x509: false, clientCertificate: false },
    });
    expect(optionsOf('mongodb://host/?tls=true&authMechanism=MONGODB-X509')).to.include({
      ...{ x509: true, clientCertificate: false },
    });
  });

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

  it('accept the largest values that MongoDB accepts, and 1', async () => {
    const collection = 'p'.repeat(254 - 'plant-store'.length);
    const most = { collection, maxBatch: 100_000, maxBatchBytes: 2 ** 24 };
    await new MongoPlantRepository({ uri, ...most }).close();
    const least = { collection: 'p', maxPending: 1, maxBatch: 1, maxBatchBytes: 1 };
    await new MongoPlantRepository({ uri, ...least }).close();
  });
});

import { readFileSync } from 'node:fs';
import {
  InvalidMongoUriError,
  mongoPlantRepository,
  mongoUriProblem,
} from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { createMongoClient, databaseOf, shownHosts } from '../../src/connection/mongo-client.js';

const FAULTY = [
  'mongodb://gardener:s3cret@',
  'mongodb://gardener:s3cret@host:port/',
  'mongodb://gardener:s3/cret@host/',
  'mongodb://gardener:s3%cret@host/',
  'mongodb://gardener:s3cret@host/?unknownOption=1',
  'postgres://gardener:s3cret@host/',
  'gardener:s3cret@host',
  'mongodb+srv://gardener:s3cret@host:27017/',
  'mongodb://gardener:s3cret@host/my%20garden',
  'mongodb://gardener:s3cret@host/?tls=true&tlsCAFile=/no/such/file',
  'mongodb://gardener:s3cret',
  'mongodb://gardener:s3cret/garden',
  'mongodb://gardener:s3cret,host/',
  'mongodb+srv://gardener:s3cret',
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
      const error = errorOf(() => mongoPlantRepository({ uri }));
      expect(error).to.be.instanceOf(InvalidMongoUriError);
      expect(error).to.include({ name: 'InvalidMongoUriError', code: 'INVALID_MONGO_URI' });
      const { message, stack, cause } = error as Error;
      expect([message, stack, cause].join()).to.not.match(/s3|cret|gardener/);
      expect(message).to.not.equal('');
    });
  }

  const named = {
    'mongodb://a:b@host,other/?directConnection=true': 'requires exactly one host',
    'mongodb://a:b@host/?minPoolSize=105': 'minPoolSize must not be above 104',
    'mongodb://a:b@host/?colour=green': 'option colour is not supported',
    'mongodb://a:b@host:port/':
      'the form is mongodb://user:password@host:port,host:port/database or mongodb+srv://user:password@host/database, with the user and the password percent-encoded',
    'mongodb+srv://a:b@host:27017/': 'the form is mongodb://user:password@host:port,',
    'postgres://a:b@host/': 'it must begin with "mongodb://" or "mongodb+srv://"',
    'mongodb://a:b@host/a.b': 'the name of the database must have',
    [`mongodb://a:b@host/${'x'.repeat(64)}`]: 'the name of the database must have',
    'mongodb://host/local': 'the database local is reserved',
    'mongodb://host/admin?replicaSet=rs0': 'the database admin is reserved',
  };
  for (const [uri, problem] of Object.entries(named)) {
    it(`is refused for what is wrong with ${uri}: ${problem}`, () => {
      expect(() => mongoPlantRepository({ uri })).to.throw(InvalidMongoUriError, problem);
      expect(mongoUriProblem(uri)).to.include(problem);
    });
  }

  for (const uri of [
    'mongodb://host/?minPoolSize=104',
    'mongodb+srv://host.example.com/',
    `mongodb://host/${'x'.repeat(63)}`,
  ]) {
    it(`has no problem: ${uri}`, () => expect(mongoUriProblem(uri)).to.equal(undefined));
  }

  it('may name a database', () => {
    expect(databaseOf('mongodb://a:b@host:1,other:2/garden?w=1')).to.equal('garden');
    expect(databaseOf('mongodb+srv://host/my%2Dgarden')).to.equal('my-garden');
    expect(databaseOf('mongodb://host/?replicaSet=a')).to.equal(undefined);
  });
});

describe('Hosts that are shown', () => {
  const rows: Record<string, string> = {
    'mongodb://admin:1234': 'admin',
    'mongodb://admin:1234/garden?replicaSet=rs0': 'admin',
    'mongodb://jo.doe:1234/?appName=garden': 'jo.doe',
    'mongodb://admin:s3cret@mongo:1234': 'mongo:1234',
    'mongodb://mongo:27019': 'mongo:27019',
    'mongodb://mongo:27020': 'mongo',
    'mongodb://localhost:1234': 'localhost:1234',
    'mongodb://127.0.0.1:1234,127.0.0.1:1235': '127.0.0.1:1234, 127.0.0.1:1235',
    'mongodb://[::1]:1234': '[::1]:1234',
    'mongodb+srv://a:b@cluster.example.com': 'cluster.example.com',
  };
  for (const [uri, shown] of Object.entries(rows)) {
    it(`are ${shown} of ${uri}`, () => {
      expect(shownHosts(uri, createMongoClient(uri))).to.equal(shown);
    });
  }
});

describe('The options to which docs/storage.md gives fixed values', () => {
  const page = readFileSync(new URL('../../../../../docs/storage.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/`([a-z]\w+)=(false|\d+)`/g)];

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

import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InvalidMongoUriError,
  mongoPlantRepository,
  mongoUriProblem,
  type StoreEvent,
} from '@plant-store/plant-repository-mongodb-batched';
import { certificates } from '@plant-store/test-servers/certificates';
import { expect } from 'chai';
import {
  createMongoClient,
  databaseOf,
  optionsWithoutEffect,
  shownHosts,
} from '../src/mongo-connection-string.js';

const FORM =
  'it must have the form mongodb://user:password@host:port,host:port/database or mongodb+srv://user:password@host/database, with percent-encoded user and password';
const SCHEME = 'it must begin with "mongodb://" or "mongodb+srv://"';

/** Invalid connection strings, by their problem. Each has a password of which no part is printed. */
const INVALID: Readonly<Record<string, string>> = {
  'mongodb://gardener:s3cret@': FORM,
  'mongodb://gardener:s3cret@host:port/': FORM,
  'mongodb://gardener:s3/cret@host/': FORM,
  'mongodb://gardener:s3%cret@host/': FORM,
  'mongodb://gardener:a@s3/cret@host/': FORM,
  'mongodb://gardener:a@s3?cret@host/': FORM,
  'mongodb://gardener:s3cret': FORM,
  'mongodb://gardener:s3cret,host/': FORM,
  'mongodb+srv://gardener:s3cret@host:27017/': FORM,
  'postgres://gardener:s3cret@host/': SCHEME,
  'gardener:s3cret@host': SCHEME,
  'mongodb://gardener:s3cret@host/?colour=green': 'option colour is not supported',
  'mongodb://gardener:s3cret@host/?minPoolSize=105': 'minPoolSize must be at most 104, got 105',
  'mongodb://gardener:s3cret@host,other/?directConnection=true': 'requires exactly one host',
  'mongodb://gardener:s3cret@host/my%20garden': 'the database my garden cannot have plants',
  'mongodb://gardener:s3cret@host/a.b': 'the database a.b cannot have plants',
  'mongodb://gardener:s3cret@host/admin?replicaSet=rs0': 'the database admin cannot have plants',
};

describe('A connection string', () => {
  for (const [uri, problem] of Object.entries(INVALID)) {
    it(`is refused with a reason, without its password: ${uri.replace('s3cret', '...')}`, () => {
      expect(() => mongoPlantRepository({ uri })).to.throw(InvalidMongoUriError, problem);
      expect(mongoUriProblem(uri))
        .to.include(problem)
        .and.not.match(/s3|cret|gardener/);
    });
  }

  it('may name a database with up to 63 characters', () => {
    expect(mongoUriProblem(`mongodb://host/${'x'.repeat(63)}`)).to.equal(undefined);
  });
});

/** Databases of connection strings: of tools, of hosting platforms, and of the edges of the format. */
const DATABASES: Readonly<Record<string, string>> = {
  'mongodb://host:27017?replicaSet=rs0&appName=team/plants': 'plant-store',
  'mongodb://host?tls=true&appName=/etc/plant-store/ca.pem': 'plant-store',
  'mongodb://host': 'plant-store',
  'mongodb://host/': 'plant-store',
  'mongodb://host/?authSource=admin&appName=a/b': 'plant-store',
  'mongodb://host?appName=test': 'plant-store',
  'mongodb://host/?appName=/test': 'plant-store',
  'mongodb://host/test': 'test',
  'mongodb://host/te%73t?w=majority': 'test',
  'mongodb://host/?dbName=garden': 'garden',
  'mongodb://host/garden?appName=a/b?c': 'garden',
  'mongodb://host/garden#fragment': 'garden',
  'mongodb://host/#garden': 'plant-store',
  'mongodb://host#x/garden': 'garden',
  'mongodb://a:b@host:1,other:2/garden?w=1': 'garden',
  'mongodb://a:b@host:1,other:2?appName=x/y': 'plant-store',
  'mongodb://a:s%2Fec%3Fret%40@host?authSource=x/y': 'plant-store',
  'mongodb://a:s%2Fec%3Fret@host/garden': 'garden',
  'mongodb://a:b@host/garden?appName=me@x/y': 'garden',
  'mongodb://%2Ftmp%2Fmongodb-27017.sock': 'plant-store',
  'mongodb://%2Ftmp%2Fmongodb-27017.sock/garden': 'garden',
  'mongodb://[::1]:27017?appName=x/y': 'plant-store',
  'mongodb+srv://host.example.com/my%2Dgarden': 'my-garden',
  'mongodb+srv://a:b@cluster0.abcde.mongodb.net?retryWrites=true&w=majority&appName=x/y':
    'plant-store',
  'mongodb+srv://a:b@cluster0.abcde.mongodb.net/garden?retryWrites=true&w=majority': 'garden',
};

describe('The database of a connection string', () => {
  for (const [uri, database] of Object.entries(DATABASES)) {
    it(`is ${database} in ${uri}`, () => {
      expect(mongoUriProblem(uri)).to.equal(undefined);
      expect(databaseOf(uri, createMongoClient(uri))).to.equal(database);
    });
  }
});

const WITHOUT_EFFECT: Readonly<Record<string, readonly string[]>> = {
  'w=0': ['w'],
  'W=1&journal=false': ['w', 'journal'],
  'j=false': ['j'],
  'w=majority&journal=true': [],
  'retryWrites=true&retryReads=true': [],
  'retryWrites=false': [],
  'readPreference=secondaryPreferred&maxStalenessSeconds=90': [
    'readPreference',
    'maxStalenessSeconds',
  ],
  'readConcernLevel=local': ['readConcernLevel'],
  'maxPoolSize=10&connectTimeoutMS=5000': ['connectTimeoutMS', 'maxPoolSize'],
  'maxPoolSize=104': [],
  'wtimeoutMS=500&timeoutMS=1000': ['wtimeoutMS', 'timeoutMS'],
  'appName=x&compressors=zlib&authSource=admin&directConnection=true': [],
};

describe('An option without an effect', () => {
  for (const [options, names] of Object.entries(WITHOUT_EFFECT)) {
    it(`is reported by name: ${options} has ${names.join(', ') || 'none'}`, () => {
      const sentences = optionsWithoutEffect(`mongodb://a:b@host,other?${options}`);
      expect(sentences.map((it) => /^the option (\w+) of/.exec(it)?.[1])).to.deep.equal(names);
    });
  }

  it('is reported when the store opens', async () => {
    const events: StoreEvent[] = [];
    const observer = (event: StoreEvent) => events.push(event);
    await mongoPlantRepository({ uri: 'mongodb://127.0.0.1:1/?w=0', observer }).close();
    expect(events).to.deep.include({
      type: 'store warning',
      message:
        'the option w of the connection string has no effect: the service always uses w=majority. Remove it',
    });
  });
});

describe('Hosts that are shown', () => {
  const rows: Record<string, string> = {
    'mongodb://admin:1234/garden?replicaSet=rs0': 'admin',
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

describe('The options to which docs/mongodb.md gives fixed values', () => {
  const page = readFileSync(new URL('../../../../docs/mongodb.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## The connection string');
  const [options = ''] = section.split('\n#');
  const rows = [...options.matchAll(/`([a-z]\w+)=(false|\d+)`/g)];

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
    expect(options.lookup, 'names are looked up by this package').to.be.a('function');
  });
});

/** The certificate and the private key in a file. */
function partsOf(file: string): string[] {
  return readFileSync(file, 'utf8').split(/(?=-----BEGIN PRIVATE)/);
}

describe('The files for TLS', () => {
  const { authority, client, expired, stranger } = certificates;
  const [certificate = '', key = ''] = partsOf(client);
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function write(content: string | Buffer): string {
    const path = join(folder, randomUUID());
    writeFileSync(path, content);
    return path;
  }

  const uriWith = (files: Record<string, string>) =>
    `mongodb://127.0.0.1:1/?tls=true&${new URLSearchParams(files)}`;
  const problemWith = (files: Record<string, string>) => mongoUriProblem(uriWith(files));

  it('are accepted if they are valid', () => {
    const files = { tlsCAFile: authority, tlsCertificateKeyFile: client };
    expect(problemWith(files)).to.equal(undefined);
  });

  it('need the password of an encrypted key', () => {
    const format = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const;
    const encrypted = createPrivateKey(key).export({ ...format, passphrase: 'secret' });
    const tlsCertificateKeyFile = write(`${certificate}${encrypted}`);
    const problem = (tlsCertificateKeyFilePassword: string) =>
      problemWith({ tlsCertificateKeyFile, tlsCertificateKeyFilePassword });
    expect(problem('secret')).to.equal(undefined);
    expect(problem('wrong')).to.include('set tlsCertificateKeyFilePassword');
    expect(problemWith({ tlsCertificateKeyFile })).to.include('set tlsCertificateKeyFilePassword');
  });

  const rows = {
    tlsCAFile: 'a certificate',
    tlsCertificateKeyFile:
      'a certificate and its private key; if the key is encrypted, set tlsCertificateKeyFilePassword',
    tlsCRLFile: 'a revocation list',
  };
  for (const [option, content] of Object.entries(rows)) {
    it(`are refused without TLS, which they do not turn on: ${option}`, () => {
      const problem = mongoUriProblem(`mongodb://host?${option}=${authority}`);
      expect(problem).to.equal(`${option} needs tls=true: without it, nothing is encrypted`);
    });

    it(`are refused if they are missing, empty or something else: ${option}`, () => {
      const der = new X509Certificate(certificate).raw;
      for (const file of ['/no/such/file', write(''), write('nothing'), write(der)]) {
        expect(problemWith({ [option]: file }))
          .to.include(`${option} must name a PEM file with ${content} (`)
          .and.match(/\([A-Z_\d]+\)$/);
      }
    });
  }

  it('are refused without the private key of the certificate', () => {
    const [, otherKey = ''] = partsOf(stranger);
    for (const parts of [certificate, certificate + otherKey]) {
      const uri = uriWith({ tlsCertificateKeyFile: write(parts) });
      expect(() => mongoPlantRepository({ uri })).to.throw(
        InvalidMongoUriError,
        'tlsCertificateKeyFile must name a PEM file with a certificate and its private key',
      );
    }
  });

  it('may have an expired client certificate, which is reported', async () => {
    const warningsWith = async (tlsCertificateKeyFile: string) => {
      const events: StoreEvent[] = [];
      const uri = uriWith({ tlsCertificateKeyFile });
      await mongoPlantRepository({ uri, observer: (event) => events.push(event) }).close();
      return events.flatMap((it) => (it.type === 'store warning' ? [it.message] : []));
    };
    expect(await warningsWith(client)).to.deep.equal([]);
    expect(await warningsWith(expired)).to.deep.equal([
      'the client certificate of the connection string (tlsCertificateKeyFile) expired at 2021-01-01T00:00:00.000Z. Renew it',
    ]);
  });
});

import { doesNotMatch, equal, match, throws } from 'node:assert/strict';
import {
  InvalidMongoUriError,
  MongoConnection,
  MongoPlantRepository,
  mongoUriProblem,
} from '@plant-store/plant-repository-mongodb';

const FORMAT = /^it must have the format mongodb:/;
const DATABASE = /^the database must not be admin, config or local/;
const WRITE_CONCERN = /^every insert waits for a majority and its journal: remove w, journal/;
const NO_TLS = /^tlsCAFile needs tls=true: without it, nothing is encrypted$/;

/** Invalid connection strings, by their problem. Each has a password of which no part is printed. */
const INVALID: Readonly<Record<string, RegExp>> = {
  'mongodb://gardener:s3cret@': FORMAT,
  'mongodb://gardener:s3cret@host:port/': FORMAT,
  'mongodb://gardener:s3/cret@host/': FORMAT,
  'mongodb://gardener:a@s3?cret@host/': FORMAT,
  'mongodb://gardener:12?s3cret': FORMAT,
  'mongodb://gardener:s3cret,host/': FORMAT,
  'mongodb+srv://gardener:s3cret@host:27017/': FORMAT,
  'postgres://gardener:s3cret@host/': FORMAT,
  'mongodb://gardener:s3cret@host/?colour=green': /^option colour is not supported$/,
  'mongodb://gardener:s3cret@host,other/?directConnection=true': /requires exactly one host$/,
  'mongodb://gardener:a@s3/cret@host/': DATABASE,
  'mongodb://gardener:s3cret@host/admin?replicaSet=rs0': DATABASE,
  'mongodb://gardener:s3cret@host/?w=0': WRITE_CONCERN,
  'mongodb://gardener:s3cret@host/?journal=false': WRITE_CONCERN,
  'mongodb://gardener:s3cret@host/?tlsCAFile=/etc/ca.pem': NO_TLS,
};

describe('A connection string', () => {
  for (const [uri, problem] of Object.entries(INVALID)) {
    it(`is refused with a reason, without its password: ${uri.replace('s3cret', '...')}`, () => {
      throws(() => new MongoPlantRepository(uri), InvalidMongoUriError);
      const found = mongoUriProblem(uri) ?? '';
      match(found, problem);
      doesNotMatch(found, /s3|cret|gardener/);
    });
  }
});

/** Databases of connection strings: of tools, of hosting platforms, and of the edges of the format. */
const DATABASES: Readonly<Record<string, string>> = {
  'mongodb://host/': 'plant-store',
  'mongodb://host:27017?replicaSet=rs0&appName=team/plants': 'plant-store',
  'mongodb://host?tls=true&tlsCAFile=/etc/plant-store/ca.pem': 'plant-store',
  'mongodb://host/?dbName=garden': 'garden',
  'mongodb://a:b@host:1,other:2/garden?w=majority&journal=true&wtimeoutMS=500': 'garden',
  'mongodb://a:s%2Fec%3Fret%40@host?authSource=admin': 'plant-store',
  'mongodb://%2Ftmp%2Fmongodb-27017.sock/garden': 'garden',
  'mongodb://[::1]:27017?readPreference=secondaryPreferred': 'plant-store',
  'mongodb+srv://a:b@cluster0.abcde.mongodb.net?retryWrites=true&w=majority': 'plant-store',
  'mongodb+srv://a:b@cluster0.abcde.mongodb.net/my%2Dgarden?retryWrites=true': 'my-garden',
};

describe('A connection string', () => {
  for (const [uri, database] of Object.entries(DATABASES)) {
    it(`names the database ${database}: ${uri}`, () =>
      equal(new MongoConnection(uri, 20).db.databaseName, database));
  }
});

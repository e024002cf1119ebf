import { fileURLToPath } from 'node:url';
import type { PlantRepository } from '@plant-store/domain';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { batchedMongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { type Subject, service } from '../peers.js';
import { InsertOne } from './insert-one.js';
import { OutcomeReporting } from './outcome-reporting.js';

/** An adapter of `PlantRepository` for MongoDB. Each one does something that those before it do not do. */
export interface Implementation {
  readonly name: string;
  /** Whether the service has it. */
  readonly isService: boolean;
  /** The file or the package that it consists of. */
  readonly source: string;
  open(uri: string, collection: string): PlantRepository;
  /** The program that serves it over HTTP. */
  readonly subject: Subject;
}

const SERVE = fileURLToPath(new URL('serve.js', import.meta.url));
const OUTCOME_REPORTING = 'benchmarks/src/implementations/outcome-reporting.ts';
const ONCE = { retryWrites: false, socketTimeoutMS: 10_000 };
/** Both attempts must fit into the default deadline of 15 s. */
const TWICE = { retryWrites: true, socketTimeoutMS: 7_000 };

/** The implementation to which the others are compared. */
export const PLAIN = 'own retries';

/** An implementation that is measured, but not part of the service. */
function measured(name: string, source: string, open: Implementation['open']): Implementation {
  return {
    name,
    isService: false,
    source,
    open,
    subject: { name, program: SERVE, env: { IMPLEMENTATION: name } },
  };
}

/** An implementation of the service, by its value of `MONGODB_INSERTS`. */
function own(
  name: string,
  source: string,
  MONGODB_INSERTS: string,
  open: Implementation['open'],
): Implementation {
  return {
    name,
    isService: true,
    source,
    open,
    subject: { ...service(name), env: { MONGODB_INSERTS } },
  };
}

export const implementations: readonly Implementation[] = [
  measured(
    'insertOne',
    'examples/smallest/mongo-plant-repository.ts',
    (...at) => new InsertOne(...at),
  ),
  measured('reports outcomes', OUTCOME_REPORTING, (...at) => new OutcomeReporting(...at, ONCE)),
  measured("driver's retry", OUTCOME_REPORTING, (...at) => new OutcomeReporting(...at, TWICE)),
  own(
    PLAIN,
    'packages/essential/plant-repository-mongodb',
    'single',
    (...at) => new MongoPlantRepository(...at),
  ),
  own(
    'batched',
    'packages/production/plant-repository-mongodb-batched',
    'batched',
    (uri, collection) => batchedMongoPlantRepository({ uri, collection }),
  ),
];

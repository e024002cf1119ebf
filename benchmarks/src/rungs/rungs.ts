import { fileURLToPath } from 'node:url';
import type { PlantRepository } from '@plant-store/domain';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { batchedMongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { type Subject, service } from '../peers.js';
import { InsertOne } from './insert-one.js';
import { TrueOutcomes } from './true-outcomes.js';

/** An adapter of `PlantRepository` for MongoDB. Each rung of the ladder does something that those before it do not do. */
export interface Rung {
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
const TRUE_OUTCOMES = 'benchmarks/src/rungs/true-outcomes.ts';
const ONCE = { retryWrites: false, socketTimeoutMS: 10_000 };
/** Both attempts must fit into the default deadline of 15 s. */
const TWICE = { retryWrites: true, socketTimeoutMS: 7_000 };

/** The rung to which the others are compared. */
export const PLAIN = 'numbered retries';

/** A rung that is measured, but not part of the service. */
function measured(name: string, source: string, open: Rung['open']): Rung {
  return {
    name,
    isService: false,
    source,
    open,
    subject: { name, program: SERVE, env: { RUNG: name } },
  };
}

/** A rung of the service, by its value of `MONGODB_INSERTS`. */
function own(name: string, source: string, MONGODB_INSERTS: string, open: Rung['open']): Rung {
  return {
    name,
    isService: true,
    source,
    open,
    subject: { ...service(name), env: { MONGODB_INSERTS } },
  };
}

export const rungs: readonly Rung[] = [
  measured(
    'insertOne',
    'examples/smallest/mongo-plant-repository.ts',
    (...at) => new InsertOne(...at),
  ),
  measured('true outcomes', TRUE_OUTCOMES, (...at) => new TrueOutcomes(...at, ONCE)),
  measured("driver's retry", TRUE_OUTCOMES, (...at) => new TrueOutcomes(...at, TWICE)),
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

import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { readerCases } from '@plant-store/plant-reader-contract';
import { openReader } from './support/correct-reader.js';
import { faultyAdapters } from './support/faulty-adapters.js';

describeSuiteItself('PlantReader', readerCases, openReader, {}, faultyAdapters);

import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { readerCases } from '@plant-store/plant-reader-contract';
import { openReader } from './support/correct-reader.js';
import { liars } from './support/liars.js';

describeSuiteItself('PlantReader', readerCases, openReader, {}, liars);

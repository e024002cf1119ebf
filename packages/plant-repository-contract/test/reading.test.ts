import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { readerCases } from '@plant-store/plant-repository-contract';
import { openStore } from './support/correct-store.js';
import { readerLiars } from './support/reader-liars.js';

describeSuiteItself('The suite for every PlantReader', readerCases, openStore, {}, readerLiars);

import { describeSuiteItself } from '@plant-store/liars';
import { readerCases } from '@plant-store/plant-repository-contract';
import { honestReaders, readerLiars } from './support/reader-liars.js';

describeSuiteItself('The suite for every PlantReader', readerCases, honestReaders, readerLiars);

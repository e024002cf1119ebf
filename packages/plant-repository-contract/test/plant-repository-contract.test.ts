import { describeSuiteItself } from '@plant-store/contract-suite';
import { contractCases } from '@plant-store/plant-repository-contract';
import { honestStores } from './support/honest-stores.js';
import { liars } from './support/liars.js';

describeSuiteItself('The suite for every PlantRepository', contractCases, honestStores, liars);

import { describeSuiteItself } from '@plant-store/contract-suite';
import { contractCases } from '@plant-store/token-verifier-contract';
import { openVerifier } from './support/honest-verifier.js';
import { liars } from './support/liars.js';

const honest = { 'keeps every promise': () => openVerifier() };

describeSuiteItself('The suite for every TokenVerifier', contractCases, honest, liars);

import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { contractCases } from '@plant-store/token-verifier-contract';
import { openVerifier, verifierVariants } from './support/correct-verifier.js';
import { faultyAdapters } from './support/faulty-adapters.js';

describeSuiteItself('TokenVerifier', contractCases, openVerifier, verifierVariants, faultyAdapters);

export { describePlantReader, type OpenReader, readerCases } from './plant-reader-contract.js';

export { FilesPlantRepository } from './files-plant-repository.js';

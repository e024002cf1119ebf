import Router from '@koa/router';
import { isPlantId, type PlantId } from '@plant-store/domain';
import {
  allowOnly,
  bearerToken,
  HttpError,
  type RouteOptions,
  respondWithJson,
} from '@plant-store/http-koa';
import type { ShowPlant } from '@plant-store/plant-reader';
import type { Middleware } from 'koa';
import { failures } from './operation-failures.js';

/** Creates the route `GET /plants/{id}`. */
export function showPlantRoute(
  useCase: ShowPlant,
  { basePath = '', timeLimitMs = 15_000 }: Pick<RouteOptions, 'basePath' | 'timeLimitMs'> = {},
): Middleware {
  const router = new Router({ prefix: basePath, strict: true, sensitive: true });
  router.get('/plants/:id', async (ctx) => {
    const viewer = await useCase.authorize(bearerToken(ctx.req));
    ctx.state.client = viewer.client;
    // The router decodes `params`: `/plants/%30` would be a second address of plant 0.
    const id = plantIdOf(ctx.captures?.[0]);
    const plant = id === undefined ? undefined : await viewer.show(id, timeLimitMs);
    if (plant === undefined) throw new HttpError(failures.PLANT_NOT_FOUND);
    respondWithJson(ctx, plant);
  });
  allowOnly(router, '/plants/:id', 'HEAD', 'GET');
  return router.routes() as Middleware;
}

/** One spelling of each id, so that each plant has one address. */
const SPELLING = /^(?:0|-?[1-9][0-9]{0,18})$/;

function plantIdOf(segment = ''): PlantId | undefined {
  const id = SPELLING.test(segment) ? BigInt(segment) : undefined;
  return id !== undefined && isPlantId(id) ? id : undefined;
}

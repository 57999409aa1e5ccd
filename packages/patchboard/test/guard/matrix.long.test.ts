import {} from 'vitest';
import { ROUTES } from '../../src/wiring/apis.ts';
import { describeRoutes, EVERY_CASE, useScene } from './support/credential-matrix.ts';

describeRoutes(ROUTES, () => EVERY_CASE, useScene());

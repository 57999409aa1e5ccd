import { vi } from 'vitest';
import { ROUTES } from '../../src/wiring/apis.ts';
import { describeRoutes, EVERY_CASE, useScene } from './support/credential-matrix.ts';

// A busy machine takes its time to start servers.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

describeRoutes(ROUTES, () => EVERY_CASE, useScene());

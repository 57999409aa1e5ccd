import { hash } from 'node:crypto';
import type { Digest } from '../core/ports.ts';

export const nodeDigest: Digest = { sha256: (text) => hash('sha256', text, 'hex') };

import { approvals } from './approvals.ts';
import type { Check } from './check.ts';
import { effects } from './effects.ts';
import { endings } from './endings.ts';
import { errors } from './errors.ts';
import { idempotency } from './idempotency.ts';
import { ledger } from './ledger.ts';
import { quiet } from './quiet.ts';
import { reads } from './reads.ts';
import { receipts } from './receipts.ts';

export const CHECKS: readonly Check[] = [
  errors,
  receipts,
  endings,
  effects,
  approvals,
  idempotency,
  reads,
  ledger,
  quiet,
];

import { approvals } from './approvals.ts';
import type { Check } from './check.ts';
import { deadlines } from './deadlines.ts';
import { deliveries } from './deliveries.ts';
import { devices } from './devices.ts';
import { effects } from './effects.ts';
import { endings } from './endings.ts';
import { errors } from './errors.ts';
import { idempotency } from './idempotency.ts';
import { inputs } from './inputs.ts';
import { journals } from './journals.ts';
import { keys } from './keys.ts';
import { lease } from './lease.ts';
import { ledger } from './ledger.ts';
import { policies } from './policies.ts';
import { quiet } from './quiet.ts';
import { reads } from './reads.ts';
import { receipts } from './receipts.ts';
import { runs } from './runs.ts';
import { seals } from './seals.ts';
import { sessions } from './sessions.ts';
import { slots } from './slots.ts';
import { stoppedWork } from './stopped-work.ts';
import { waits } from './waits.ts';

export const CHECKS: readonly Check[] = [
  errors,
  receipts,
  endings,
  effects,
  lease,
  seals,
  approvals,
  idempotency,
  runs,
  waits,
  deadlines,
  stoppedWork,
  reads,
  ledger,
  devices,
  sessions,
  deliveries,
  inputs,
  journals,
  policies,
  keys,
  quiet,
  slots,
];

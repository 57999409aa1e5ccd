import { problemJson, type RefusalFormat } from '../shared/routes/problem.ts';
import { problemWith } from '../shared/routes/components.ts';
import { FLAG, TEXT } from '../shared/routes/schemas.ts';
import { AUDIT } from './audit.ts';
import { ERROR_TYPE, ERROR_TYPES } from './error-types.ts';

/** A problem with the members of a failed call added; the audit is included if the request was a call. */
export const TENANT_REFUSAL: RefusalFormat = {
  contentType: 'application/problem+json',
  schema: problemWith(
    { success: FLAG, error: TEXT, error_type: { enum: Object.keys(ERROR_TYPES) }, audit: AUDIT },
    ['audit'],
  ),
  write: (failed, context) =>
    problemJson(failed, {
      ...context,
      more: {
        success: false,
        error: failed.message,
        error_type: ERROR_TYPE[failed.code],
        ...context.more,
      },
    }),
};

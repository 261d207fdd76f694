/**
 * `fieldgate/guards`: guards for `app.use` and for the `middlewares` of a router.
 *
 * @module
 */

export { type ApiKeyOptions, apiKey, type KeyCheck } from './api-key.ts'
export { compress } from './compress.ts'
export { type CorsOptions, cors, type OriginCheck } from './cors.ts'
export { type IdempotencyOptions, idempotency } from './idempotency.ts'
export { type RateLimitOptions, rateLimit } from './rate-limit.ts'
export { readOnly } from './read-only.ts'
export { type SecureHeadersOptions, secureHeaders } from './secure-headers.ts'

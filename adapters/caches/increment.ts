/** `increment` as a script, for Redis and what speaks its commands. */

/**
 * Adds one to the number under KEYS[1]; the first sum expires after ARGV[1] seconds. One step, so that no count is left
 * without an expiry. EXPIRE itself can leave an expiry alone only since Redis 7.
 */
export const INCREMENT = `local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count`

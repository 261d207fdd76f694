/**
 * Databases of MongoDB for servers under test.
 *
 * @module
 */

/** The address of a database that no other server has. */
export function databaseOf(url: string): string {
  const database = new URL(url)
  database.pathname = `/http-${crypto.randomUUID()}`
  return database.href
}

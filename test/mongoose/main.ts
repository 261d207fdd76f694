/**
 * The tests of fieldgate/mongoose with the real packages.
 *
 * @module
 */

import './round-trips.ts'
import './rules.ts'

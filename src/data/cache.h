/* cache.h - the binary form of a dataset: one file that is mapped into memory and used where it lies. */
#ifndef OLTR_DATA_CACHE_H
#define OLTR_DATA_CACHE_H

#define CACHE_MAGIC "OLTRDATA"

#endif

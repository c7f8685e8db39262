/* A message whose attempt is counted before it is made, because the last holders of its bucket did not come back
   (S6): Claims with Lease.single, BatchReader.count, Settlement.undecidedButCounted, Claims.wanted.

   One message, one relay. A claim counts the attempt; a decision does not count it a second time; unavailable, or no
   decision, gives it back. A settle's reply may be lost, and the settle is repeated.

   Switches (-DNAME=value), defaults as the code is:
   KEEP      0  1: the lease of such a bucket is kept from batch to batch like others                     */
#ifndef KEEP
#define KEEP 0
#endif
#define MAX 4
#define NONE 0
#define FAIL 1
#define UNAV 2

byte attempts; bool held;
byte meant;                             /* ghost: failures and crashes so far */
active proctype Relay() { byte claimed; byte out; bool twice;
again:
  do
  :: atomic { meant<MAX -> held=1; claimed=attempts; attempts++;
       if :: out=FAIL; meant++ :: out=UNAV :: out=NONE
          :: held=0; meant++; claimed=0; assert(attempts==meant); goto again       /* crash: it stays counted */
       fi }
decide:
     atomic {
       if :: held ->
             if :: out==FAIL -> if :: attempts==claimed+1 -> attempts=claimed+1 :: else fi
                :: out==UNAV -> if :: attempts==claimed+1 -> attempts=claimed :: else fi
                :: out==NONE -> attempts=(attempts>0 -> attempts-1 : 0)
             fi;
             if :: KEEP -> attempts++ :: else held=0 fi         /* kept: the next batch counts its attempt */
          :: else fi;
       if :: !twice -> twice=1; goto decide                     /* the reply was lost */
          :: 1 -> skip fi;
       if :: KEEP && held -> held=0; attempts-- :: else fi;
       assert(attempts==meant); twice=0; out=0; claimed=0 }
  :: meant==MAX -> break
  od }
